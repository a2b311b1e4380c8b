// Every checker of the simulated fleet, one file a property.
import { accounting } from './accounting.ts';
import { acknowledgedIsDurable } from './acknowledged-is-durable.ts';
import { alertCounts } from './alert-counts.ts';
import { alertStates } from './alert-states.ts';
import { alertsArrive } from './alerts-arrive.ts';
import { assignedPacks } from './assigned-packs.ts';
import { auditChain } from './audit-chain.ts';
import { auditedActs } from './audited-acts.ts';
import { bounds } from './bounds.ts';
import { certificateWindow } from './certificate-window.ts';
import { channelOrder } from './channel-order.ts';
import type { CheckerKind } from './checker.ts';
import { clonedNode } from './cloned-node.ts';
import { closedOut } from './closed-out.ts';
import { containment } from './containment.ts';
import { countedLicense } from './counted-license.ts';
import { designation } from './designation.ts';
import { endedSession } from './ended-session.ts';
import { engineWatch } from './engine-watch.ts';
import { flows } from './flows.ts';
import { forgetful } from './forgetful.ts';
import { habits } from './habits.ts';
import { haltedRollouts } from './halted-rollouts.ts';
import { healthRule } from './health-rule.ts';
import { identityFromCertificate } from './identity-from-certificate.ts';
import { keptSettings } from './kept-settings.ts';
import { licenseTold } from './license-told.ts';
import { lossLedger } from './loss-ledger.ts';
import { monotone } from './monotone.ts';
import { noRawEvents } from './no-raw-events.ts';
import { nodeContainers } from './node-containers.ts';
import { nodeKeys } from './node-keys.ts';
import { nodeSockets } from './node-sockets.ts';
import { outboundGuard } from './outbound-guard.ts';
import { ownClock } from './own-clock.ts';
import { ownSecret } from './own-secret.ts';
import { packsInForce } from './packs-in-force.ts';
import { rebuiltFromFacts } from './rebuilt-from-facts.ts';
import { removableDuplicates } from './removable-duplicates.ts';
import { revoked } from './revoked.ts';
import { rolloutGates } from './rollout-gates.ts';
import { rootChange } from './root-change.ts';
import { ruleBacktest } from './rule-backtest.ts';
import { ruleWindows } from './rule-windows.ts';
import { searchEdges } from './search-edges.ts';
import { secondFactor } from './second-factor.ts';
import { spoolBound } from './spool-bound.ts';
import { staleness } from './staleness.ts';
import { takenOnce } from './taken-once.ts';
import { timeTravel } from './time-travel.ts';
import { tokenOnce } from './token-once.ts';
import { trustDomains } from './trust-domains.ts';
import { unwatched } from './unwatched.ts';

export const CHECKERS: readonly CheckerKind[] = [
  acknowledgedIsDurable,
  channelOrder,
  removableDuplicates,
  forgetful(tokenOnce),
  identityFromCertificate,
  revoked,
  forgetful(certificateWindow),
  ownClock,
  spoolBound,
  accounting,
  lossLedger,
  unwatched,
  flows,
  habits,
  nodeSockets,
  nodeContainers,
  healthRule,
  staleness,
  noRawEvents,
  nodeKeys,
  monotone,
  bounds,
  timeTravel,
  rebuiltFromFacts,
  trustDomains,
  forgetful(auditChain),
  designation,
  forgetful(endedSession),
  forgetful(closedOut),
  containment,
  packsInForce,
  rolloutGates,
  haltedRollouts,
  assignedPacks,
  forgetful(secondFactor),
  forgetful(keptSettings),
  forgetful(countedLicense),
  licenseTold,
  forgetful(auditedActs),
  engineWatch,
  alertCounts,
  ruleWindows,
  forgetful(alertStates),
  forgetful(searchEdges),
  ruleBacktest,
  alertsArrive,
  outboundGuard,
  ownSecret,
  takenOnce,
  clonedNode,
  rootChange,
];
