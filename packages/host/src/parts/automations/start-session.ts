import type { AutomationEntry } from '@atrium/protocol/automation/state'
import type { Message } from '@atrium/protocol/chat/message'
import type { ErrorInfo } from '@atrium/protocol/common/content'
import type { Uri } from '@atrium/protocol/channel'
import type { Params } from '@atrium/protocol/commands'
import { AhpError, errorCodes } from '@atrium/protocol/errors'
import { compact } from '@atrium/protocol/update'
import { sessionUri } from '@atrium/protocol/uri'
import { agentOf } from '../agents/agents.ts'
import { sendFirstMessage } from '../chat/new-chat.ts'
import type { Core } from '../../kernel/core.ts'
import type { Channel } from '../../kernel/log/channel.ts'
import { createSession, forgetSession } from '../session/session.ts'

interface Start {
  readonly run: Channel<'automationRun'>
  readonly entry: AutomationEntry
  readonly principal: string
}

/** Why a session could not be created. `waits`: it may be possible later. */
interface Problem {
  readonly waits: boolean
  readonly error: ErrorInfo
}

/**
 * Creates the session of a run and sends its first message, in one step, so that a crash can neither leave a session
 * without its run nor send the message twice. `begun` is called in that step. It returns false if the run was cancelled meanwhile.
 */
export async function startSession(
  core: Core,
  { run, entry, principal }: Start,
  begun: (session: Uri) => boolean,
): Promise<Problem | undefined> {
  const { session: template, message: given } = entry.definition
  const { provider, model, agent, workingDirectories, config } = template
  const missing = missingModel(core, entry)
  if (missing) return missing
  const message = compact<Message>({
    ...given,
    model: given.model ?? model,
    agent: given.agent ?? agent,
    attachments: withEvent(given, run),
  })
  const params = compact<Params<'createSession'>>({
    channel: sessionUri(core.world.id()),
    provider,
    workingDirectories,
    config,
  })
  const origin = { kind: 'automation', automation: entry.resource, run: run.uri } as const
  try {
    await createSession(core, { principal }, params, {
      selection: { model: message.model, agent: message.agent },
      origin,
      begun: (session, chat) => {
        if (begun(session.uri)) sendFirstMessage(core, chat, message)
        else forgetSession(core, session)
      },
    })
    return undefined
  } catch (error) {
    if (!(error instanceof AhpError)) throw error
    const waits = error.code === errorCodes.ProviderNotFound || error.code === errorCodes.AuthRequired
    return { waits, error: { errorType: waits ? 'unavailable' : 'session', message: `${error.message}.` } }
  }
}

/** The attachments of a message, with the event that has started the run. */
function withEvent(
  { attachments }: Message,
  { head: { origin } }: Channel<'automationRun'>,
): Message['attachments'] {
  const event = origin.kind === 'trigger' ? origin.event : undefined
  if (!event) return attachments
  return [
    ...(attachments ?? []),
    { type: 'simple', label: 'Event', modelRepresentation: JSON.stringify(event) },
  ]
}

/** An agent may learn its models late. Of an agent that names none, each model is tried. */
function missingModel(core: Core, { definition }: AutomationEntry): Problem | undefined {
  const { session, message } = definition
  const id = (message.model ?? session.model)?.id
  const models = agentOf(core, session.provider ?? '')?.info.models ?? []
  if (id === undefined || models.length === 0 || models.some((model) => model.id === id)) return undefined
  const text = `The agent ${session.provider ?? ''} has no model ${JSON.stringify(id.slice(0, 100))}.`
  return { waits: true, error: { errorType: 'unavailable', message: text } }
}
