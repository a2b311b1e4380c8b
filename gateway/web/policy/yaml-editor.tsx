// The editor of one policy: YAML with help for its fields, and what the Console's judge says in the line it means. Loaded only
// where somebody edits.
import { autocompletion, type CompletionContext } from '@codemirror/autocomplete';
import { yaml } from '@codemirror/lang-yaml';
import { type Diagnostic, lintGutter, setDiagnostics } from '@codemirror/lint';
import { useComputedColorScheme } from '@mantine/core';
import CodeMirror, { EditorView, type ReactCodeMirrorRef } from '@uiw/react-codemirror';
import { useEffect, useMemo, useRef } from 'react';
import type { PolicyCheck } from '../api/contract.ts';
import { SCHEMA_WORDS } from './schema-words.ts';

type Refusals = PolicyCheck['refusals'];
const nonce =
  document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? undefined;

export function YamlEditor({
  value,
  label,
  refusals,
  isReadOnly,
  onChange,
}: {
  readonly value: string;
  readonly label: string;
  readonly refusals: Refusals;
  readonly isReadOnly: boolean;
  readonly onChange: (text: string) => void;
}) {
  const scheme = useComputedColorScheme('light');
  const editor = useRef<ReactCodeMirrorRef>(null);
  const extensions = useMemo(
    () => [
      yaml(),
      lintGutter(),
      autocompletion({ override: [wordsAt] }),
      EditorView.contentAttributes.of({ 'aria-label': label }),
      EditorView.lineWrapping,
      ...(nonce === undefined ? [] : [EditorView.cspNonce.of(nonce)]),
    ],
    [label],
  );
  useEffect(() => {
    const view = editor.current?.view;
    if (view === undefined) return;
    view.dispatch(setDiagnostics(view.state, diagnosticsOf(view, refusals)));
  }, [refusals]);
  return (
    <CodeMirror
      ref={editor}
      className="fs-editor"
      value={value}
      theme={scheme}
      extensions={extensions}
      readOnly={isReadOnly}
      onChange={onChange}
      basicSetup={{ foldGutter: false }}
    />
  );
}

function diagnosticsOf(view: EditorView, refusals: Refusals): Diagnostic[] {
  const { doc } = view.state;
  return refusals.map(({ line, column, reason, code }) => {
    const at = doc.line(Math.min(Math.max(1, line), doc.lines));
    const from = Math.min(at.from + Math.max(0, column - 1), at.to);
    return { from, to: at.to, severity: code === 'invalid' ? 'error' : 'warning', message: reason };
  });
}

function wordsAt(context: CompletionContext) {
  const word = context.matchBefore(/[\w.]*/);
  if (word === null || (word.from === word.to && !context.explicit)) return null;
  return {
    from: word.from,
    options: SCHEMA_WORDS.map(([label, info, kind]) => ({ label, info, type: kind })),
  };
}
