// Package page is the page: what a sweep found, in pictures, live from a coordinator or as one self-contained file.
//
// The page is a program for the browser (web/, bundled into dist/ by "go generate") that draws JSON documents. This
// package makes the documents of what a Source tells and serves both. Everything is read: no request changes a sweep.
//
// # Addresses
//
// All are relative to where the page is, so that it can stand behind a proxy with a prefix.
//
//	GET  ./                                       the page (dist/index.html)
//	GET  assets/NAME                              what it loads (dist/NAME): scripts, styles
//	GET  data/sweeps                              Overview: all sweeps, newest first, and the workers
//	GET  data/sweeps/ID/table?from=ROW&epoch=E    Table: one row a configuration, column by column
//	GET  data/sweeps/ID/ranking                   Ranking: the rows best first, ties grouped
//	GET  data/sweeps/ID/failures                  Failures: configurations that are not valid, and why
//	GET  data/sweeps/ID/importance                Importance: which parameters matter, and which interact
//	GET  data/sweeps/ID/measured                  Measured: predicted against measured times of the same configurations
//	GET  data/sweeps/ID/trials/TRIAL              Trial: all that is stored of a configuration, at once
//	GET  data/sweeps/ID/explain?trials=N[,N…]     Explained: simulated again, with findings, source lines, occupancy
//	GET  data/compare?sweeps=ID,ID[,…]            Comparison: one kernel on several architectures
//	GET  login, POST login, POST logout           a form that takes a token, where the coordinator asks for one: Overview.Role says so
//
// Documents are JSON with a field schema, and an error is a Problem. Its status is 400 (what was asked makes no
// sense), 401 (log in), 403 (the role may not), 404 (no such sweep or trial), 422 (the configuration cannot be
// explained here), 429 or 503 (try again). Numbers that are not known are null.
//
// # What is live
//
// Every document has an ETag, and is answered 304 while it is as it was. The page asks for data/sweeps once a
// second while something runs, and for the others when Sweep.Revision differs from the last one seen. Polling and
// not server-sent events. A browser opens at most six connections to an HTTP/1.1 server, so that a stream for each
// tab blocks the seventh, and a 304 costs less than keeping a stream. A poll needs no second way for reconnecting,
// proxies that buffer, tokens that are withdrawn, and tabs in the background, which browsers throttle by
// themselves.
//
// # The file
//
// "warptune report" writes the page as one file. Its index.html has the scripts and styles inlined, and the documents in
//
//	<script type="application/json" id="warptune-documents">{"data/sweeps": {…}, "data/sweeps/ID/table": {…}, …}</script>
//
// by address, without a query but for explain and compare. Explained are the best (trials=N), the fastest of some groups
// of ties after it, and each of those with the best (trials=BEST,N); stored trials are those of the best twenty. Where
// that element is, the page asks no server: an address that is not in it is not in the report. "data/sweeps/ID/explain"
// without a query is a Problem, where the sweep's configurations could not be explained.
package page

// Schemas of the documents: what their fields schema say.
const (
	OverviewSchema   = "warptune.page.overview.v1"
	TableSchema      = "warptune.page.table.v1"
	RankingSchema    = "warptune.page.ranking.v1"
	FailuresSchema   = "warptune.page.failures.v1"
	ImportanceSchema = "warptune.page.importance.v1"
	TrialSchema      = "warptune.page.trial.v1"
	ExplainedSchema  = "warptune.page.explained.v1"
	ComparisonSchema = "warptune.page.comparison.v1"
	MeasuredSchema   = "warptune.page.measured.v1"
)

// Problem is what went wrong, in words.
type Problem struct {
	Kind    string `json:"kind"` // the error's kind, as of tuner.Kind
	Message string `json:"message"`
}
