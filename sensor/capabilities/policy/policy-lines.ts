// The policies as `service-sensor status` shows them.
import type { Live } from '../../cli/live-status.ts';
import { isObject } from '../../transport/answer.ts';

/** Each policy with its state, what it did or would have done, and why it is not in force. */
export function policyLines(live: Live | null): readonly string[] {
  const listed = live?.['policies'];
  return (Array.isArray(listed) ? listed : []).filter(isObject).map((one) => {
    const counts = isObject(one['counts']) ? one['counts'] : {};
    const [killed, wouldHave] = [
      Number(counts['signals'] ?? 0) + Number(counts['refusals'] ?? 0),
      Number(counts['monitored_signals'] ?? 0) + Number(counts['monitored_refusals'] ?? 0),
    ];
    const more = [
      killed > 0 ? `acted ${killed} times` : '',
      wouldHave > 0 ? `would have acted ${wouldHave} times` : '',
      String(one['reason'] ?? ''),
    ].filter((text) => text !== '');
    return [`${one['name']} ${one['state']}`, ...more].join(', ');
  });
}

/** The pack that is in force, and what stands against the one that is wanted. */
export function packLines(live: Live | null): readonly string[] {
  const pack = live?.['pack'];
  if (!isObject(pack)) return [];
  const held = pack['in_force'];
  const inForce = isObject(held) ? [`${held['pack_id']} version ${held['version']} in force`] : [];
  if (pack['pack_id'] === undefined) return inForce;
  const why = [pack['code'], pack['reason']].filter((one) => one !== undefined).map(String);
  const wanted = `${pack['pack_id']} version ${pack['version']} ${pack['state']}`;
  return [[wanted, ...why].join(': '), ...inForce];
}
