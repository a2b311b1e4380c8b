// What stands at `/setup` for whoever asks for no HTML by name, and where no page was built: the way by the command line.

/** Nothing but text. */
export const SETUP_HINT_POLICY =
  "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Renders the hint. */
export function renderSetupHint(): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Set up this Console</title>
</head>
<body>
<main>
<h1>Set up this Console</h1>
<p>On the machine where it runs, with the code that was printed there:</p>
<pre>service-console setup</pre>
</main>
</body>
</html>
`;
}
