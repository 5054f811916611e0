// Where documents come from: the server that the page is from, or the report that the page is.

export class Problem extends Error {
  constructor(readonly status: number, message: string) { super(message); }
}

const embedded: Record<string, unknown> | null = (() => {
  const element = document.getElementById("warptune-documents");
  return element ? JSON.parse(element.textContent ?? "{}") : null;
})();

/** Whether the page is a report: nothing changes, and no server is asked. */
export const isReport = embedded !== null;

/** Addresses that a report has, empty for a live page. */
export const addresses = (): string[] => Object.keys(embedded ?? {});

export async function get<T>(address: string, signal?: AbortSignal): Promise<T> {
  if (embedded) return fromReport(address) as T;
  let response: Response;
  try {
    response = await fetch(address, { cache: "no-cache", credentials: "same-origin", signal });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Problem(0, "The server does not answer. It may have ended; the page tries again by itself.");
  }
  if (response.status === 401) location.href = "login";
  if (!response.ok) throw new Problem(response.status, await message(response));
  return (await response.json()) as T;
}

/** A document of the report. Explanations that no report can have say why in the place of all of them. */
function fromReport(address: string): unknown {
  const bare = address.split("?")[0];
  if (address in embedded!) return embedded![address];
  const instead = embedded![bare] as { message?: string } | undefined;
  if (bare.endsWith("/explain") && instead) throw new Problem(422, instead.message ?? "It cannot be explained.");
  if (instead && bare === "data/sweeps") return instead;
  throw new Problem(404, "This is not in the report. Open the live page for it: warptune page.");
}

async function message(response: Response): Promise<string> {
  try {
    return ((await response.json()) as { message: string }).message;
  } catch {
    return `The server answered ${response.status} ${response.statusText}.`;
  }
}
