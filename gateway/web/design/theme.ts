// Mantine's theme: system fonts, two weights, a 4 px radius, one accent. What the colours mean is in design.css.
import { createTheme } from '@mantine/core';
import { DESIGN_TEXTS as TEXTS } from './texts.ts';

const closeButtonProps = { 'aria-label': TEXTS.close };

export const theme = createTheme({
  primaryColor: 'blue',
  primaryShade: { light: 8, dark: 8 },
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, "DejaVu Sans Mono", monospace',
  fontSizes: { xs: '12px', sm: '14px', md: '14px', lg: '16px', xl: '20px' },
  lineHeights: { xs: '1.4', sm: '1.45', md: '1.5', lg: '1.5', xl: '1.5' },
  spacing: { xs: '8px', sm: '12px', md: '16px', lg: '24px', xl: '32px' },
  headings: {
    fontWeight: '600',
    sizes: {
      h1: { fontSize: '20px', lineHeight: '28px' },
      h2: { fontSize: '16px', lineHeight: '24px' },
      h3: { fontSize: '14px', lineHeight: '20px' },
    },
  },
  defaultRadius: 4,
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    Button: { defaultProps: { size: 'xs' } },
    ActionIcon: { defaultProps: { variant: 'subtle', color: 'gray' } },
    TextInput: { defaultProps: { size: 'sm' } },
    Drawer: {
      defaultProps: { position: 'right', transitionProps: { duration: 100 }, closeButtonProps },
    },
    Modal: { defaultProps: { transitionProps: { duration: 100 }, closeButtonProps } },
    Tooltip: { defaultProps: { openDelay: 300, transitionProps: { duration: 0 } } },
    Popover: { defaultProps: { transitionProps: { duration: 0 }, shadow: 'md' } },
    Menu: { defaultProps: { transitionProps: { duration: 0 }, shadow: 'md' } },
  },
});
