// An alert rule as people write it, as files hold it and as the store keeps it: schema and type from one definition. What a
// schema cannot say (that a condition can be read) is said by `rule-compile.ts`. decision: D131
import Type from 'typebox';
import { ALERT_SEVERITIES } from '../console/delivery/alert.ts';
import {
  RULE_GROUP_BY_MAX,
  RULE_MAINTENANCE_MAX,
  RULE_MUTES_MAX,
  RULE_NAME_MAX_CHARS,
  RULE_QUIET_MAX_SECS,
  RULE_SCOPE_MAX,
  RULE_TEXT_MAX_CHARS,
} from '../limits.ts';
import { RuleDetect } from './rule-kinds/kinds.ts';

const strict = { additionalProperties: false } as const;
const Name = Type.String({ minLength: 1, maxLength: RULE_NAME_MAX_CHARS });
const Time = Type.String({ format: 'date-time', maxLength: 40 });
const Strings = Type.Array(Type.String({ minLength: 1, maxLength: RULE_NAME_MAX_CHARS }), {
  maxItems: RULE_SCOPE_MAX,
});
export const RuleScope = Type.Object(
  {
    group_ids: Type.Optional(Strings),
    tags: Type.Optional(Strings),
    roles: Type.Optional(Strings),
  },
  { ...strict, description: 'sensors with one of each that is given; nothing given: all' },
);

export const RuleSpec = Type.Object(
  {
    rule_name: Name,
    description: Type.Optional(Type.String({ maxLength: RULE_TEXT_MAX_CHARS })),
    enabled: Type.Optional(Type.Boolean()),
    severity: Type.Enum([...ALERT_SEVERITIES]),
    mitre: Type.Optional(Type.Object({ technique: Name, tactic: Name }, strict)),
    detect: RuleDetect,
    across: Type.Optional(
      Type.Enum(['sensor', 'fleet'], { description: 'counted for each sensor, or over all' }),
    ),
    group_by: Type.Optional(
      Type.Array(Name, { maxItems: RULE_GROUP_BY_MAX, description: 'fields of the event' }),
    ),
    scope: Type.Optional(RuleScope),
    quiet_secs: Type.Optional(
      Type.Integer({
        ...{ minimum: 0, maximum: RULE_QUIET_MAX_SECS },
        description: 'how long after it was resolved matches are counted there',
      }),
    ),
    mutes: Type.Optional(
      Type.Array(
        Type.Object(
          {
            sensor_id: Name,
            until: Type.Optional(Time),
            reason: Type.Optional(Type.String({ maxLength: RULE_TEXT_MAX_CHARS })),
          },
          strict,
        ),
        { maxItems: RULE_MUTES_MAX },
      ),
    ),
    maintenance: Type.Optional(
      Type.Array(
        Type.Object(
          { from: Time, until: Time, scope: Type.Optional(RuleScope) },
          { ...strict, description: 'what is observed meanwhile counts for nothing' },
        ),
        { maxItems: RULE_MAINTENANCE_MAX },
      ),
    ),
    expires_at: Type.Optional(Time),
    owner: Type.Optional(Name),
  },
  strict,
);
export type RuleSpec = Type.Static<typeof RuleSpec>;
export type RuleScope = Type.Static<typeof RuleScope>;
