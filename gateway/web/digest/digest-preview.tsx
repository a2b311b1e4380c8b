// A digest as a mail program shows it: in a frame of its own where no script runs and no form is sent. The page forbids style
// attributes in what it did not make, so the frame's own are set once it is there.
import type { SyntheticEvent } from 'react';
import { useApi } from '../api/client.ts';
import { Answered } from '../design/states.tsx';
import { DIGEST_TEXTS as TEXTS } from './texts.ts';

export function DigestPreview({ id }: { readonly id: string }) {
  const made = useApi('GET /digests/:id/preview', { params: { id } });
  return (
    <Answered of={made}>
      {({ subject, html }) => (
        <>
          <p className="fs-quiet">{TEXTS.previewHint}</p>
          <p>
            <b>{subject}</b>
          </p>
          <iframe
            title={TEXTS.preview}
            className="fs-mail"
            sandbox="allow-same-origin"
            srcDoc={undressed(html)}
            onLoad={dress}
          />
        </>
      )}
    </Answered>
  );
}

/**
 * The policy of the page takes no styles of a text: they wait as data and are put on one by one. No text of others holds a
 * quotation mark as it stands, so that only attributes are renamed.
 */
const undressed = (html: string): string => html.replaceAll(' style="', ' data-style="');

function dress({ currentTarget }: SyntheticEvent<HTMLIFrameElement>): void {
  const inside = currentTarget.contentDocument;
  for (const one of inside?.querySelectorAll<HTMLElement>('[data-style]') ?? []) {
    one.style.cssText = one.dataset['style'] ?? '';
  }
}
