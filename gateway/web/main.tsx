// Where the page begins: styles, theme with this answer's nonce, cache, router.
import '@mantine/core/styles.css';
import './design/design.css';
import './shell/shell.css';
import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { createRoot } from 'react-dom/client';
import { theme } from './design/theme.ts';
import { queryClient, router } from './router.tsx';

const RELOADED = 'page-reloaded-at';
const RELOAD_AGAIN_AFTER_MS = 30_000;

// After an update a tab may ask for a file that is gone: it loads the page anew, once.
window.addEventListener('vite:preloadError', (event) => {
  const last = Number(sessionStorage.getItem(RELOADED) ?? 0);
  if (Date.now() - last < RELOAD_AGAIN_AFTER_MS) return;
  event.preventDefault();
  sessionStorage.setItem(RELOADED, String(Date.now()));
  location.reload();
});

const nonce =
  document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? undefined;
// What locks the page behind a dialog makes a style element of its own and looks for its nonce here.
Object.assign(globalThis, { __webpack_nonce__: nonce });
const root = document.getElementById('root');
if (root === null) throw new Error('the document has no place for the page');
createRoot(root).render(
  <MantineProvider
    theme={theme}
    defaultColorScheme="auto"
    {...(nonce === undefined ? {} : { getStyleNonce: () => nonce })}
  >
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </MantineProvider>,
);
