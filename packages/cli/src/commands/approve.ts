import type { Client } from '@atrium/client/client'
import type { SessionState } from '@atrium/protocol/session/state'
import { Activity, activityOf } from '@atrium/protocol/status'
import { noTo, yesTo } from '../session/answer.ts'
import type { Wanted } from '../session/answer.ts'
import { Problem, exits } from '../terminal/exit.ts'
import type { Exit } from '../terminal/exit.ts'
import type { Whereabouts } from '../link/connect.ts'
import { table } from '../render/table.ts'
import { allSessions, findSession, lookInto, shortName } from '../session/find.ts'
import { trip } from '../link/with-client.ts'
import { harmless, onOneLine, voice } from '../terminal/output.ts'
import type { Manners, Voice } from '../terminal/output.ts'
import { fateOf, waitingIn } from '../session/pending-requests.ts'
import type { Waiting } from '../session/pending-requests.ts'
import { accepted } from '../link/dispatch.ts'

interface Flags extends Whereabouts, Manners, Wanted {
  readonly call?: string
}

/** `atrium approve`: says yes to what waits in a session; without a session it lists what waits anywhere. */
export function approve(name: string | undefined, flags: Flags): Promise<Exit> {
  return trip(flags, (client) =>
    name === undefined ? listAll(client, flags) : answer(client, name, flags, true),
  )
}

/** `atrium deny`: the same, with a no. */
export function deny(name: string, flags: Flags): Promise<Exit> {
  return trip(flags, (client) => answer(client, name, flags, false))
}

async function answer(client: Client, name: string, flags: Flags, yes: boolean): Promise<Exit> {
  const out = voice(flags)
  const { resource } = await findSession(client, name)
  const session = client.subscribe('session', resource)
  const state = await session.ready()
  const all = waitingIn(state).map((each) => ({ ...each, session: resource }))
  const [one, ...others] =
    flags.call === undefined ? all : all.filter(({ id }) => id.startsWith(flags.call ?? ''))
  if (!one) throw await nothing(client, state, name, flags.call)
  if (others.length > 0) {
    list(out, flags.call === undefined ? all : [one, ...others])
    throw new Problem(`${others.length + 1} things wait there; name one with --call.`, exits.usage)
  }
  const action = yes ? yesTo(one, flags) : noTo(one, flags)
  const outcome = await client.dispatch(one.chat, action)
  if (outcome.outcome !== 'accepted') {
    const fate = await fateOf(client, state, one.id)
    const late = fate !== undefined && !waitingIn(session.state ?? state).some(({ id }) => id === one.id)
    if (late) throw tooLate(fate)
    accepted(outcome)
  }
  out.did({ session: resource, chat: one.chat, id: one.id, approved: yes }, () => {
    return `${yes ? 'Approved' : 'Denied'}: ${onOneLine(one.what)}`
  })
  return exits.ok
}

async function nothing(client: Client, state: SessionState, name: string, call?: string): Promise<Problem> {
  const fate = call === undefined ? undefined : await fateOf(client, state, call)
  if (fate !== undefined) return tooLate(fate)
  return new Problem(
    call === undefined
      ? `Nothing waits for an answer in '${name}'.`
      : `Nothing called '${call}' waits in '${name}'.`,
  )
}

function tooLate(fate: string): Problem {
  return new Problem(`Somebody else was faster: ${fate}.`)
}

async function listAll(client: Client, flags: Flags): Promise<Exit> {
  const asking = (await allSessions(client)).filter(
    ({ status }) => activityOf(status) === Activity.InputNeeded,
  )
  const found: (Waiting & { readonly session: string })[] = []
  await lookInto(client, asking, (state, session) => {
    for (const each of waitingIn(state)) found.push({ ...each, session })
  })
  if (found.length === 0) throw new Problem('Nothing waits for an answer.')
  list(voice(flags), found)
  return exits.ok
}

function list({ tell, json, style }: Voice, all: readonly (Waiting & { readonly session: string })[]): void {
  if (json) for (const each of all) tell(each, () => '')
  else
    tell({}, () =>
      table(
        all.map(({ session, id, kind, tool, what }) => [
          style.cyan(shortName(session)),
          style.dim(harmless(id)),
          harmless(tool ?? kind),
          onOneLine(what),
        ]),
      ),
    )
}
