import type { Uri } from '@atrium/protocol/channel'
import { openChat } from './conversation.ts'
import { fold } from './fold.ts'
import { Kit } from './kit.ts'
import type { Run } from './kit.ts'
import { listSessions } from './list.ts'
import { usualHabits } from './session-habits.ts'
import type { SessionHabits } from './session-habits.ts'
import { chatFormOf, plainChatForm, sessionForms } from './uri-form.ts'
import type { UriForm } from './uri-form.ts'

interface Tried {
  readonly forms: Pick<SessionHabits, 'sessionForm' | 'chatForm'>
  readonly ready: boolean
  readonly listed: boolean
}

/**
 * The forms of session and chat URIs that the command line names. The kit does not search for a form that is named.
 */
export interface NamedForms {
  readonly sessionForm?: UriForm | undefined
  readonly chatForm?: UriForm | undefined
}

/**
 * Finds the habits of the host: the forms of its URIs, and whether a session is ready and listed only from its first
 * turn on. Creates a session for each form of session URI. The first form whose session becomes ready and is listed
 * is taken. If there is none, a turn is run in a session of each form, and the first form whose session is listed
 * after its turn is taken.
 */
export async function readHabits(run: Omit<Run, 'habits'>, named: NamedForms): Promise<SessionHabits> {
  const tried: Tried[] = []
  for (const sessionForm of named.sessionForm === undefined ? sessionForms : [named.sessionForm]) {
    const found = await withSession(run, sessionForm, async (kit, session) => ({
      forms: { sessionForm, chatForm: named.chatForm ?? (await chatFormFor(kit, session)) },
      ready: await becomesReady(kit, session),
      listed: await isListed(kit, session, named),
    }))
    if (found?.ready && found.listed) return { ...usualHabits, ...found.forms }
    if (found) tried.push(found)
  }
  for (const { forms, ready, listed } of tried) {
    const settled = await withSession(run, forms.sessionForm, async (kit, session) => {
      await (await openChat(kit, session)).runTurn()
      return isListed(kit, session, named)
    })
    if (settled) return { ...forms, readyAtFirstTurn: !ready, listedAtFirstTurn: !listed }
  }
  const [first] = tried
  const sessionForm = named.sessionForm ?? usualHabits.sessionForm
  return { ...usualHabits, chatForm: named.chatForm ?? first?.forms.chatForm ?? plainChatForm, sessionForm }
}

/**
 * Runs `look` with a new session whose URI has this form. Returns undefined if the session cannot be created or used.
 */
async function withSession<T>(
  run: Omit<Run, 'habits'>,
  sessionForm: UriForm,
  look: (kit: Kit, session: Uri) => Promise<T>,
): Promise<T | undefined> {
  // With `readyAtFirstTurn`, a turn may be started at once. `skips` is empty and not shared, so that a failure here does not
  // skip a rule.
  const kit = new Kit({ ...run, habits: { ...usualHabits, sessionForm, readyAtFirstTurn: true }, skips: {} })
  try {
    return await look(kit, await kit.session())
  } catch {
    return undefined
  } finally {
    await kit.end()
  }
}

/**
 * The form of chat URIs: the plain form, unless the URI of the default chat shows another form and the host cannot
 * open a chat with a plain URI.
 */
async function chatFormFor(kit: Kit, session: Uri): Promise<UriForm> {
  const client = await kit.join()
  const { state } = await client.subscribe(session)
  const shown = chatFormOf((state as { readonly defaultChat?: Uri }).defaultChat, session)
  if (shown === plainChatForm || !kit.facts.multipleChats) return plainChatForm
  const chat = kit.unusedChat(session)
  await client.request('createChat', { channel: session, chat })
  return 'result' in (await client.request('subscribe', { channel: chat })) ? plainChatForm : shown
}

async function becomesReady(kit: Kit, session: Uri): Promise<boolean> {
  const client = await kit.join()
  const start = await client.subscribe(session)
  const isReady = () => fold('session', start, client.envelopes).lifecycle !== 'creating' || undefined
  return client.until('the session to be created', isReady).catch(() => false)
}

/**
 * Tells whether the host lists the session, under the agent that it was created with. The title is changed first,
 * because a host may leave an untouched session out of its list. Some hosts take the agent from the session's URI. If
 * the URI has another form than such a host expects, the host lists the session under a wrong agent, so the kit must
 * try another form. If the command line names the form, no other form is tried, and the agent is not compared here
 * but by rule K80.
 */
async function isListed(kit: Kit, session: Uri, { sessionForm }: NamedForms): Promise<boolean> {
  const client = await kit.join()
  await client.subscribe(session)
  await client.retitle(session)
  const found = (await listSessions(client)).find(({ resource }) => resource === session)
  return found !== undefined && (sessionForm !== undefined || found.provider === kit.facts.provider)
}
