export const HELP_TEXTS = {
  title: 'Help',
  keys: 'Keys',
  goTo: 'Go to',
  search: 'Search pages and sensors',
  help: 'This help',
  close: 'Close a drawer, a menu or a dialog',
  meanings: 'What the marks mean',
  command: 'Command line',
  commandHint: 'Everything here can be done from a terminal, too.',
  api: 'API',
  apiAbout:
    'Every call of this page is one that programs can make. Keys are made on the account page.',
  description: 'Description (OpenAPI 3.1)',
  filter: 'Part of a path or of what it does',
  noMatch: 'No call matches.',
  needs: 'Needs',
  open: 'open to everybody',
} as const;
