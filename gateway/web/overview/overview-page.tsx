import { PageFrame } from '../design/page.tsx';
export function OverviewPage() {
  return <PageFrame title="Overview">soon</PageFrame>;
}
