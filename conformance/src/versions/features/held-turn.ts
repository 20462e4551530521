import { Skipped } from '../../kit/check.ts'
import { activeTurnIn, openRequestIn, turnsIn } from '../reading.ts'
import type { SeenCall } from '../reading.ts'
import type { Member, Scene } from '../scene.ts'

/**
 * Starts a turn with one client, and waits until another client sees that the turn waits for the user. Returns the id of the
 * turn.
 */
export async function held(
  scene: Scene,
  starter: Member,
  watcher: Member,
  prompt = scene.options.formPrompt ?? scene.options.toolPrompt,
): Promise<string> {
  if (prompt === undefined)
    throw new Skipped('no --form-prompt or --tool-prompt says how to make a turn wait for the user')
  const turnId = await scene.startTurn(starter, prompt)
  const waits = (member: Member) => openRequest(member, turnId) ?? callWith(member, turnId, pending)
  await untilAsked(scene, watcher, turnId, waits)
  return turnId
}

/** Waits until the client sees what the agent asks. A turn that ends without asking skips the feature. */
export async function untilAsked<T>(
  scene: Scene,
  member: Member,
  turnId: string,
  find: (member: Member) => T | undefined,
): Promise<T> {
  const { speaker, version, view } = member
  const ended = () => turnsIn(version, view.talk()).some(({ id }) => id === turnId)
  const look = () => find(member) ?? (ended() ? ('ended' as const) : undefined)
  const found = await speaker.until('the agent to ask', look, scene.turnTimeoutMs)
  if (found !== 'ended') return found as T
  throw new Skipped('the agent did not ask after the prompt')
}

/** Declines every request and call of a turn that waits for the user, so that the turn goes on and ends by itself. */
export async function release({ turnTimeoutMs }: Scene, member: Member, turnId: string): Promise<void> {
  const { view, speaker, version } = member
  for (;;) {
    const request = openRequest(member, turnId)
    const call = callWith(member, turnId, pending)
    if (request) await view.say('inputCompleted', { requestId: request['id'], response: 'decline' })
    else if (call)
      await view.say('toolCallConfirmed', { turnId, toolCallId: call.id, approved: false, reason: 'denied' })
    const ended = () => turnsIn(version, view.talk()).some(({ id }) => id === turnId)
    const settled = () => ended() || openRequest(member, turnId) || callWith(member, turnId, pending)
    await speaker.until('the turn to go on after the answer', () => settled() || undefined, turnTimeoutMs)
    if (ended()) return
  }
}

export const pending = 'pending-confirmation'
export const pendingResult = 'pending-result-confirmation'

/** The first call of the active turn with this status. */
export function callWith({ version, view }: Member, turnId: string, status: string): SeenCall | undefined {
  const active = activeTurnIn(version, view.talk())
  return active?.id === turnId ? active.calls.find((call) => call.status === status) : undefined
}

/** The request of the active turn that waits for an answer. */
export function openRequest({ version, view }: Member, turnId: string) {
  const isActive = activeTurnIn(version, view.talk())?.id === turnId
  return isActive ? openRequestIn(version, view.talk()) : undefined
}
