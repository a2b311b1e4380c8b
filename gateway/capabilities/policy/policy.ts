// Policies of nodes: what each is to have, told with its heartbeats and at once on its stream, downloaded by it alone.
// decision: D83

import type { UpkeepLoop } from '../../../actors/loops/loop.ts';
import { followWanted, type WantedPolicies } from '../../../actors/policy/wanted-policies.ts';
import { versionId } from '../../../machines/console/policy/book.rules.ts';
import { POLICY_FOLLOW_INTERVAL_MS } from '../../../machines/limits.ts';
import { parserOfValue } from '../../../machines/wire/parse.ts';
import { PolicyReport } from '../../../machines/wire/policy.ts';
import type { Capability } from '../../capability.ts';
import { assignmentRoutes } from '../../operator-plane/policy/assignments.ts';
import { packRoutes } from '../../operator-plane/policy/packs.ts';
import { policyRoutes } from '../../operator-plane/policy/policies.ts';
import { signingKeyRoutes } from '../../operator-plane/policy/signing-keys.ts';
import type { HeartbeatPart } from '../../sensor-plane/heartbeat-part.ts';
import { handlePolicyDownload, type PolicyDownloads } from '../../sensor-plane/policy-route.ts';
import { fleet } from '../fleet/fleet.ts';
import { settings } from '../settings/settings.ts';
import { telemetry } from '../telemetry/telemetry.ts';
import { trust } from '../trust/trust.ts';
import { type Packs, packs } from './packs.ts';
import { sendRefreshes } from './refreshes.ts';

const parseReport = parserOfValue(PolicyReport);

export const policy: Capability<WantedPolicies> = {
  name: 'policy',
  async open(context) {
    const { relational, logger, time, chance, cursors } = context;
    const own = context.use(packs);
    const { sensors, directory, identities } = context.use(fleet);
    const { streams } = context.use(telemetry);
    const { admission } = context.use(trust);
    const rows = await relational.sensors.loadSensors();
    const reports = rows.flatMap(({ sensorId, facts }) => {
      const read = parseReport(facts?.policy);
      return read.ok ? [[sensorId, read.value] as const] : [];
    });
    const wanted = followWanted(
      {
        book: own.book,
        teams: relational.teams,
        sensorIds: () => directory.ids(),
        tell: (sensorId, event) => void sensors.tell(sensorId, event),
        refresh: (sensorId) => void streams.send(sensorId, { type: 'refresh', what: ['policy'] }),
        ...{ now: time.now, logger },
      },
      reports,
    );
    await wanted.readLabels();
    const stopHearing = sensors.onStart((sensorId) => wanted.onStart(sensorId));
    const stopDoubting = identities.onReread(own.book.doubt);
    const stopRefreshes = sendRefreshes({
      settings: context.use(settings),
      feed: context.use(fleet).feed,
      sensorIds: () => directory.ids(),
      streams,
    });
    const routes = {
      ...{ ...own, wanted, cursors, chance, now: time.now },
      ...{ sensors: relational.sensors, teams: relational.teams },
    };
    return {
      service: wanted,
      operatorRoutes: () => [
        packRoutes(routes),
        assignmentRoutes(routes),
        policyRoutes(routes),
        signingKeyRoutes(routes),
      ],
      sensorPosts: ['/sensors/policies/:pack_id/:version'].map((path) => ({
        path,
        method: 'GET' as const,
        answer: (exchange) =>
          handlePolicyDownload({ ...admission, downloads: downloadsOf(own, wanted) }, exchange),
      })),
      heartbeatParts: [partOf(wanted)],
      loops: () => [followLoop(own, wanted)],
      close() {
        stopHearing();
        stopDoubting();
        stopRefreshes();
        wanted.stop();
      },
    };
  },
};

function downloadsOf(own: Packs, wanted: WantedPolicies): PolicyDownloads {
  return {
    async pack(sensorId, packId, version) {
      if (!wanted.isAssigned(sensorId, packId, version)) return null;
      const row = own.book.book().versions.get(versionId(packId, version));
      const pack = await own.packs.signed(packId, version);
      return row === undefined || pack === null ? null : { pack, etag: row.manifestSha256 };
    },
    async custom(sensorId, revision) {
      const { custom } = wanted.get(sensorId).wanted;
      if (custom.revision !== revision || revision === 0) return null;
      return own.assignments.custom(sensorId);
    },
  };
}

function partOf(wanted: WantedPolicies): HeartbeatPart {
  return {
    take: ({ sensorId }, beat) => wanted.take(sensorId, beat.policy),
    facts({ sensorId }) {
      const report = wanted.reportOf(sensorId);
      return report === null ? {} : { policy: report };
    },
    answer(sensorId) {
      const { policyHash, ...parts } = wanted.answer(sensorId);
      return policyHash === undefined
        ? parts
        : { ...parts, stored_sections: { policy: policyHash } };
    },
  };
}

/** Another Console may have changed the book, and nobody is told of labels. */
function followLoop({ book }: Packs, wanted: WantedPolicies): UpkeepLoop {
  return {
    name: 'policy-follow',
    runsOn: 'process',
    everyMs: POLICY_FOLLOW_INTERVAL_MS,
    async run() {
      await book.follow();
      await wanted.readLabels();
      return undefined;
    },
  };
}
