import { toolCallStarted, call, mcp, running } from '../tool-call-actions.ts'
import { untilIdle } from '../held-flushes.ts'
import { ScriptedAgent } from '../scripted-agent.ts'
import { testHost } from '../test-host.ts'
import type { Client, TestHostOptions } from '../test-host.ts'
import { chat, chatOf, session, sessionOf, started, oneClientSession } from '../one-client-session.ts'
import type { AgentAction } from '../../src/ports/agent.ts'

export const github = {
  resource: 'https://api.example',
  resource_name: 'Example',
  scopes_supported: ['read'],
}
export const optional = { resource: 'https://optional.example', required: false }
export const door = { resource: 'https://door.example', authorization_servers: ['https://login.example'] }
export const guarded = () => new ScriptedAgent({ resumes: true, protectedResources: [github, optional] })

export const give = (client: Client, resource: string, token = 'T', more: object = {}) =>
  client.ask('authenticate', { resource, token, ...more })
export const codeOf = (asked: Promise<unknown>) =>
  asked.then(
    () => 0,
    (error: { code: number }) => error.code,
  )
export const notesOf = ({ notes }: Client) =>
  notes.filter(({ method }) => method === 'auth/required').map(({ params }) => params)

/** A host with Ann in a session of an agent that needs a sign-in. Ann was signed in, and her token has been revoked. */
export async function signedOut(options: TestHostOptions = {}) {
  const agent = guarded()
  const all = await testHost({ ...options, agents: [agent] })
  const ann = await all.join('ann')
  await give(ann, github.resource)
  await ann.ask('createSession', { channel: session })
  for (const channel of [session, chat]) await ann.ask('subscribe', { channel })
  await untilIdle()
  await give(ann, github.resource, '')
  return { all, ann, agent }
}

export const signIn = (more: object = {}) =>
  ({
    type: 'chat/toolCallAuthRequired',
    ...call,
    auth: { resource: door, reason: 'required' },
    ...more,
  }) as AgentAction

/** Starts a turn with a tool call that waits for a sign-in. */
export async function waiting(agent = new ScriptedAgent({ resumes: true }), options: TestHostOptions = {}) {
  const { all, ann } = await oneClientSession(agent, options)
  ann.dispatch(chat, started('t1'))
  const run = await agent.given()
  run.say(toolCallStarted(mcp), running, signIn())
  await ann.until(() => sessionOf(ann).inputNeeded !== undefined)
  return { all, ann, agent, run }
}

export const statusOf = (client: Client) => {
  const [part] = chatOf(client).activeTurn?.responseParts ?? []
  return part?.kind === 'toolCall' ? part.toolCall.status : undefined
}
