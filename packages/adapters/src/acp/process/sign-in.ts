import type { ProtectedResourceMetadata } from '@atrium/protocol/common/auth'
import type { Variables } from '../../process/environment.ts'
import type { AuthMethod } from './schema.ts'

/** The parts of an agent's program that a sign-in needs. */
interface SignInProgram {
  readonly name: string
  readonly displayName: string
  readonly command: string
  /** The known command for a sign-in. */
  readonly signIn?: string
}

/** A way to sign in to an agent, with the resource by which clients name it. */
export interface SignInWay {
  readonly resource: ProtectedResourceMetadata
  /** The environment variable that has the key. Absent: the agent takes no key. */
  readonly variable?: string
  /** The method that the agent carries out itself, for example in a browser. */
  readonly methodId?: string
}

/**
 * Returns the ways to sign in to an agent. A way for which the agent needs no key has an empty list of bearer methods, which in
 * RFC 9728 says that the resource takes no token. After such a sign-in, the host asks the agent whether it works now.
 */
export function signInWays(program: SignInProgram, methods: readonly AuthMethod[]): readonly SignInWay[] {
  const named = methods.flatMap(({ id, ...method }) => (id === undefined ? [] : [{ ...method, id }]))
  if (named.length === 0) return [{ resource: { ...resourceOf(program, 'login'), ...withoutToken } }]
  const isChoice = named.length > 1 ? { required: false } : {}
  return named.map((method) => {
    const resource = { ...resourceOf(program, method.id, method.name), ...isChoice }
    const [variable, ...others] = (method.vars ?? []).filter(({ optional }) => optional !== true)
    if (method.type === 'env_var' && variable && others.length === 0)
      return { resource, variable: variable.name }
    const isOwn = method.type === undefined && method._meta?.['terminal-auth'] === undefined
    return { resource: { ...resource, ...withoutToken }, ...(isOwn && { methodId: method.id }) }
  })
}

/** Returns the variables with the keys that a user has given; undefined if there are none. */
export function keysIn(
  ways: readonly SignInWay[],
  tokenFor: (resource: string) => string | undefined,
): Variables | undefined {
  const given = ways.flatMap(({ resource, variable }) => {
    const token = variable === undefined ? undefined : tokenFor(resource.resource)
    return variable === undefined || token === undefined ? [] : [[variable, token] as const]
  })
  return given.length === 0 ? undefined : Object.fromEntries(given)
}

/**
 * Returns the instruction to sign in. It names a command: the one that the agent announces, else the known command of
 * the program. If there is neither, the instruction is the agent's own description of the sign-in.
 */
export function signInText(
  methods: readonly AuthMethod[] = [],
  command: string,
  knownCommand: string | undefined,
): string {
  for (const { type, args = [], _meta } of methods) {
    const terminal = _meta?.['terminal-auth']
    if (typeof terminal?.command === 'string') return runText(terminal.command, terminal.args)
    if (type === 'terminal') return runText(command, args)
  }
  if (knownCommand !== undefined) return runText(knownCommand)
  const names = methods.flatMap(({ vars = [] }) => vars.map(({ name }) => name))
  if (names.length > 0) return `Sign in with its key, or set ${names.join(' or ')} where the host runs.`
  const described = methods.find(({ description }) => description)?.description
  return described ? `${described}.`.replace(/\.\.$/, '.') : runText(command)
}

function resourceOf({ name, displayName }: SignInProgram, id: string, method?: string) {
  const resource = `acp://${encodeURIComponent(name)}/${encodeURIComponent(id)}`
  return { resource, resource_name: method === undefined ? displayName : `${displayName}: ${method}` }
}

function runText(command: string, args: readonly string[] = []): string {
  return `Run \`${[command, ...args].join(' ')}\` in a terminal, and sign in there. Then begin or resume a turn.`
}

const withoutToken = { bearer_methods_supported: [] }
