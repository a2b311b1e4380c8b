// Text on its way into the page. Names, reasons and details come out of a run and can hold anything.
const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Makes text safe inside elements and quoted attributes of HTML and SVG. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => ENTITIES[sign] ?? '');
}

/** Shortens what would not fit, at the end. */
export function cutText(text: string, signsMax: number): string {
  return text.length <= signsMax ? text : `${text.slice(0, signsMax - 1)}…`;
}
