import type { Action } from '@atrium/protocol/channel'
import { isBefore } from '@atrium/protocol/versions/negotiate'
import type { Version } from '@atrium/protocol/versions/negotiate'
import type { Chance } from '../../chance.ts'

interface Members extends Action {
  readonly message?: { readonly text?: unknown }
  readonly activeClient?: unknown
  readonly claim?: { readonly chat?: unknown }
}

/**
 * Returns an action of 1.0 as a client of an older version sends it. An action that the version does not have is sent
 * as it is: the host must refuse it.
 */
export function olderAction(version: Version, action: Action): Action {
  const before = (other: Version) => isBefore(version, other)
  const { type } = action
  if (!before('0.9.0')) return action
  if (type === 'session/activeClientSet' && before('0.5.0'))
    return { ...action, type: 'session/activeClientChanged' }
  if (type === 'session/activeClientRemoved' && before('0.5.0'))
    return { type: 'session/activeClientChanged', activeClient: null } as Action
  const { message, claim, ...rest } = withoutTimes(action, before('0.6.0')) as Members
  const { chat: _, ...shortClaim } = claim ?? {}
  return {
    ...rest,
    ...(before('0.4.0') && { type: type.replace('chat/', 'session/') }),
    ...(message && (before('0.3.0') ? { userMessage: { text: message.text } } : { message })),
    ...(claim && { claim: shortClaim }),
  } as Action
}

/** Removes the times of an action if `older` is set. Up to 0.5.2 actions have no times: the host fills them in. */
function withoutTimes(action: Action, older: boolean): Action {
  if (!older) return action
  const {
    startedAt: _startedAt,
    duration: _duration,
    ...rest
  } = action as Action & {
    startedAt?: unknown
    duration?: unknown
  }
  return rest
}

/** Returns the choice of a model, or at 0.4 of an agent, for a session (V9). Some choices are empty or malformed. */
export function randomChoice(name: string, chance: Chance): Action {
  const agent = chance.oneIn(3) ? {} : { agent: { uri: `agent:/${chance.below(2)}` } }
  const choices = [
    { type: 'session/modelChanged', model: { id: `model-${chance.below(3)}` } },
    { type: 'session/modelChanged', model: { id: name } },
    { type: 'session/modelChanged', model: chance.oneIn(8) ? name : { id: 'same' } },
    { type: 'session/agentChanged', ...agent },
  ]
  return chance.pick(choices) as Action
}

export function isChoice({ type }: Action): boolean {
  return type === 'session/modelChanged' || type === 'session/agentChanged'
}

/**
 * Whether a version has actions that choose the model of a session. Later versions name the model in each message.
 */
export function choosesModels(version: Version): boolean {
  return isBefore(version, '0.5.0')
}
