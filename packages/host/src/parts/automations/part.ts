import { id, object } from '@atrium/protocol/schema'
import type { Infer } from '@atrium/protocol/schema'
import { AhpError } from '@atrium/protocol/errors'
import { whenCommitted } from '../../kernel/deferred-response.ts'
import type { Core } from '../../kernel/core.ts'
import { command, part } from '../../kernel/part.ts'
import { Automations, automationsOf } from './automations.ts'
import { eventTypes } from './event-types.ts'
import { automationGuards, requestDetour, runGuards } from './requests.ts'

const missedRunsParams = { channel: id, automation: id }
/** The params of `x-atrium/missedRuns`. */
interface MissedRunsParams extends Infer<typeof missedRunsParams> {}
const MissedRunsParams = object<MissedRunsParams>('AtriumMissedRunsParams', missedRunsParams)

interface Ports {
  /** A read-only host shows automations, and runs none. */
  readonly readOnly?: string | undefined
}

/** Work that the host begins by itself: by a schedule, after an event, or when somebody asks. */
export const automations = part<Automations | undefined, Ports>({
  name: 'automations',
  key: automationsOf,
  open: (core, { readOnly }) => (readOnly === undefined ? Automations.open(core) : undefined),
  commands: {
    'x-atrium/missedRuns': command('watch', MissedRunsParams, async (self, { automation }) => ({
      items: await self.missed(automation),
    })),
  },
  rules: {
    methods: {
      listAutomationTriggerDefinitions: () => ({ items: eventTypes }),
      runAutomation: (core, _, params) => {
        const resource = opened(core).run(params)
        return whenCommitted(core, { seq: core.log.last }, { resource })
      },
      fetchAutomationRuns: async (core, _, params) => {
        await opened(core).fetch(params)
        return whenCommitted(core, { seq: core.log.last }, {})
      },
    },
    guards: [automationGuards, runGuards],
    detours: [requestDetour],
    followUps: {
      automation: (core, _, action) => {
        if (action.type === 'automation/removed') opened(core).removed(action.resource)
      },
    },
    offers: (core) => {
      if (!automationsOf(core)) return {}
      const { automationHistory, automationMinutes } = core.limits
      return {
        automations: {
          create: {},
          schedules: { minIntervalMinutes: automationMinutes },
          runCancellation: {},
          runHistoryLimit: automationHistory,
        },
      }
    },
  },
  recover: (self) => self.load(),
  started: (self) => self.start(),
  appended: (self, channel, action) => self.events.appended(channel, action),
  committed: (self, channel, action) => self.committed(channel, action),
  disposed: (self, session) => self.disposed(session),
})

function opened(core: Core): Automations {
  const self = automationsOf(core)
  if (self) return self
  throw AhpError.permissionDenied(core.readOnlyReason() ?? 'this host has no automations')
}
