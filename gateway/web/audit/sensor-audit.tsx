import { getRouteApi } from '@tanstack/react-router';
import { AuditTable } from './audit-table.tsx';
import { AUDIT_TEXTS } from './texts.ts';

const route = getRouteApi('/shell/sensors/$id');

export function SensorAudit() {
  const { id } = route.useParams();
  return <AuditTable filter={{ target: id }} empty={AUDIT_TEXTS.nothing} />;
}
