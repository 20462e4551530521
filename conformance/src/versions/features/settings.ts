import { randomUUID } from 'node:crypto'
import { canonical } from '../../json.ts'
import { Failed, Skipped, check, same } from '../../kit/check.ts'
import { customizationsIn } from '../reading.ts'
import type { SeenCustomization } from '../reading.ts'
import { seesTitle } from '../scene.ts'
import type { Feature, Member, Scene } from '../scene.ts'

export const rename: Feature = {
  name: 'rename',
  async run(scene, actor) {
    const title = await scene.rename(actor)
    await scene.all(actor, `the title "${title}"`, seesTitle(title))
  },
}

export const toggle: Feature = {
  name: 'toggle',
  async run(scene, actor) {
    const { name, enabled } = offeredCustomization(scene)
    const { key } = customizationOf(actor, name)
    await actor.view.set('customizationToggled', toggling(actor, key, !enabled))
    await scene.all(
      actor,
      `the customization ${name} ${enabled ? 'disabled' : 'enabled'}`,
      (member) => customizationOf(member, name).enabled === !enabled,
    )
  },
}

/** The first customization of the session, as the newest version sees it. */
function offeredCustomization({ members }: Scene): SeenCustomization {
  const newest = members.at(-1)
  const [first] = newest ? customizationsIn(newest.version, newest.view.state()) : []
  if (!first) throw new Skipped('the agent has no customization')
  return first
}

/** A customization by its name, because the key differs between versions. */
function customizationOf({ version, view }: Member, name: string): SeenCustomization {
  const found = customizationsIn(version, view.state()).find((each) => each.name === name)
  if (!found) throw new Failed(`the customization ${name}`, 'no such customization in the session')
  return found
}

function toggling({ speaker }: Member, key: string, enabled: boolean): object {
  if (!speaker.has('0.2.0')) return { uri: key, enabled }
  return speaker.has('0.8.0') ? { id: key, enablement: [{ kind: 'session', enabled }] } : { id: key, enabled }
}

/**
 * A refusal is sent only to the client whose action is refused. It contains the action as the client sent it, and changes
 * nothing.
 */
export const refusal: Feature = {
  name: 'refusal',
  async run(scene, actor) {
    const { view, speaker } = actor
    const turnId = randomUUID()
    const duration = speaker.has('0.6.0') && { duration: 0 }
    const action = view.action('turnCancelled', { turnId, ...duration })
    const echo = await speaker.outcome(speaker.dispatch(view.conversation, action), action.type)
    check(typeof echo.rejectionReason === 'string', 'a rejectionReason, because no turn is active', echo)
    same('the refused action', speaker.addressed(view.conversation, action), echo.action)
    // A connection delivers envelopes in the order of their numbers. So once a later envelope is here, an earlier one
    // cannot come any more.
    const title = await scene.rename(actor)
    await scene.all(actor, `the title "${title}"`, seesTitle(title))
    await scene.each(actor, (member) => {
      const told = member.speaker.envelopes.some((envelope) => canonical(envelope.action).includes(turnId))
      check(told === (member === actor), 'the refusal to be told to its client only', turnId)
    })
  },
}
