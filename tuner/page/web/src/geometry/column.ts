/** A discrete column: for each row the index of its value. */
export interface Column {
  codes: ArrayLike<number>;
  /** How many values there are. */
  size: number;
}
