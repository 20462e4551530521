import type { AutomationAction } from '@atrium/protocol/automation/actions'
import type { Core } from '../../kernel/core.ts'
import type { DispatchRules } from '../../kernel/dispatch-rules.ts'
import type { Channel } from '../../kernel/log/channel.ts'
import { equal } from '../../kernel/log/equal.ts'
import type { Guards } from '../../kernel/rules.ts'
import type { Automations } from './automations.ts'
import { automationsOf } from './automations.ts'
import { accepted, changed, definitionProblem } from './definition.ts'
import { isActive } from './lifecycle.ts'

type Request = Extract<
  AutomationAction,
  { type: 'automation/createRequested' | 'automation/updateRequested' }
>

export const automationGuards: Guards<'automation'> = {
  'automation/createRequested': ({ resource, definition }, { core }) => {
    const { catalogue } = opened(core)
    if (!/^ahp-automation:\/[^/?#]+$/.test(resource))
      return 'the URI of an automation has the form ahp-automation:/<id>'
    const before = catalogue.entry(resource)
    const wanted = accepted(core, definition)
    if (before && !equal(before.definition, wanted)) return `there is another automation ${quoted(resource)}`
    if (!before && catalogue.size >= core.limits.automations)
      return `there are ${catalogue.size} automations: remove some first`
    return definitionProblem(core, wanted)
  },
  'automation/updateRequested': ({ resource, changes }, { core }) => {
    const before = opened(core).catalogue.entry(resource)
    if (!before) return `there is no automation ${quoted(resource)}`
    return definitionProblem(core, accepted(core, changed(before.definition, changes)))
  },
  'automation/removed': ({ resource }, { core }) =>
    opened(core).catalogue.entry(resource)?.runs.some(isActive)
      ? 'a run of the automation is active: cancel it first'
      : undefined,
}

export const runGuards: Guards<'automationRun'> = {
  'automationRun/cancelRequested': (_, { state }) => (isActive(state) ? undefined : 'the run has ended'),
}

/** A request changes no state by itself. The host answers it with `automation/set`, or with what becomes of the run. */
export const requestDetour: DispatchRules<Core>['detours'] = (core, channel, action) => {
  if (channel.is('automation') && requests.has(action.type))
    return {
      target: channel,
      accept: (sender) => {
        const entry = core.log.echo(channel, action, sender)
        // The guard of its type has accepted the action.
        carryOut(opened(core), action as Request, sender.by.principal)
        return entry
      },
    }
  if (!channel.is('automationRun') || action.type !== 'automationRun/cancelRequested') return undefined
  return {
    target: channel,
    accept: (sender) => cancel(core, channel, () => core.log.echo(channel, action, sender)),
  }
}

const requests: ReadonlySet<string> = new Set(['automation/createRequested', 'automation/updateRequested'])

function cancel<E>(core: Core, run: Channel<'automationRun'>, echo: () => E): E {
  const entry = echo()
  opened(core).runs.cancel(run)
  return entry
}

function carryOut(self: Automations, request: Request, principal: string): void {
  const { resource } = request
  if (request.type === 'automation/createRequested') self.create(resource, request.definition, principal)
  else self.update(resource, request.changes)
}

/** The channel exists only in a host that has the part. */
function opened(core: Core): Automations {
  const self = automationsOf(core)
  if (!self) throw new Error('the automations are not open')
  return self
}

function quoted(uri: string): string {
  return JSON.stringify(uri.slice(0, 200))
}
