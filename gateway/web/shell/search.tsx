// The palette (`mod+k`): every page, and the sensors whose names hold what was typed.
import { Spotlight, spotlight } from '@mantine/spotlight';
import '@mantine/spotlight/styles.css';
import { useDebouncedValue } from '@mantine/hooks';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useApi } from '../api/client.ts';
import { Icon } from '../design/icons.tsx';
import type { NavItem } from './nav.ts';
import { SHELL_TEXTS } from './texts.ts';

const SENSORS_SHOWN = 8;
const TYPING_MS = 150;

export const openSearch = () => spotlight.open();

export function Search({ nav }: { readonly nav: readonly NavItem[] }) {
  const [typed, setTyped] = useState('');
  const [query] = useDebouncedValue(typed.trim(), TYPING_MS);
  const navigate = useNavigate();
  const sensors = useApi(
    'GET /sensors',
    { query: { node_name: query.slice(0, 64), limit: SENSORS_SHOWN } },
    { enabled: query !== '' },
  );
  const pages = nav.filter(({ label }) => label.toLowerCase().includes(query.toLowerCase()));
  const found = query === '' ? [] : (sensors.data?.items ?? []);
  return (
    <Spotlight.Root query={typed} onQueryChange={setTyped} shortcut="mod + K">
      <Spotlight.Search
        placeholder={SHELL_TEXTS.searchHint}
        aria-label={SHELL_TEXTS.searchHint}
        leftSection={<Icon name="search" />}
      />
      <Spotlight.ActionsList>
        {pages.map(({ to, label, icon }) => (
          <Spotlight.Action
            key={to}
            label={label}
            leftSection={<Icon name={icon} />}
            onClick={() => void navigate({ to })}
          />
        ))}
        {found.map(({ sensor_id: id, node_name: name }) => (
          <Spotlight.Action
            key={id}
            label={name}
            leftSection={<Icon name="sensors" />}
            onClick={() => void navigate({ to: `/sensors/${id}/overview` })}
          />
        ))}
        {pages.length + found.length === 0 && (
          <Spotlight.Empty>{SHELL_TEXTS.nothingFound}</Spotlight.Empty>
        )}
      </Spotlight.ActionsList>
    </Spotlight.Root>
  );
}
