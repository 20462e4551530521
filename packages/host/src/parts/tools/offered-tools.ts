import { customizationsOf } from '../../catalog/customizing.ts'
import type { ToolCallContributor, ToolCallState } from '@atrium/protocol/chat/tool'
import { isJsonObject } from '@atrium/protocol/json'
import type { JsonObject } from '@atrium/protocol/json'
import { limits } from '@atrium/protocol/limits'
import type { SessionState, ToolDefinition } from '@atrium/protocol/session/state'
import { plainLine, plainText } from '@atrium/protocol/text/plain'
import { compact, without } from '@atrium/protocol/update'
import type { Core } from '../../kernel/core.ts'
import type { Channel } from '../../kernel/log/channel.ts'
import type { OfferedTool } from '../../ports/agent.ts'

/** A source of tools for a session: an active client, or an MCP server that the host runs. */
export interface ToolSource {
  readonly contributor: ToolCallContributor
  /** The name from which a prefix is made if names collide. */
  readonly label: string
  readonly tools: readonly ToolDefinition[]
}

/** The active clients of a session, as sources of tools. */
export function clientSources({ activeClients }: SessionState): readonly ToolSource[] {
  return activeClients.map(({ clientId, displayName, tools }) => ({
    contributor: { kind: 'client', clientId },
    label: displayName ?? clientId,
    tools,
  }))
}

/**
 * The tools of all sources. Their names are unique, and none of them is a reserved name. A tool keeps its own name if no other
 * tool has it. So a name changes only when a tool with the same name is added or removed.
 */
export function offeredTools(
  sources: readonly ToolSource[],
  reserved: Iterable<string> = [],
): readonly OfferedTool[] {
  const taken = new Set(reserved)
  const all = sources.flatMap((source) => distinct(source.tools).map((tool) => ({ source, tool })))
  const wanted = new Map<string, number>()
  for (const { tool } of all) wanted.set(asName(tool.name), (wanted.get(asName(tool.name)) ?? 0) + 1)
  const collides = (name: string) => taken.has(name) || wanted.get(name) !== 1
  const plain = new Set([...wanted.keys()].filter((name) => !collides(name)))
  for (const name of plain) taken.add(name)
  return all.slice(0, limits.offeredTools).map(({ source, tool }) => {
    const own = asName(tool.name)
    const name = plain.has(own) ? own : unused(`${asName(source.label)}_${own}`, taken)
    taken.add(name)
    const definition = plainDefinition(tool)
    return {
      name,
      definition,
      contributor: source.contributor,
      displayName: displayName(source, definition.title ?? name),
      asks: source.contributor.kind === 'mcp' || asks(tool),
    }
  })
}

/** The name of a tool for users. That of an MCP server's tool begins with the name of the server. */
function displayName({ contributor, label }: ToolSource, title: string): string {
  const shown = plainLine(title, titleLength).replaceAll('`', "'")
  return contributor.kind === 'mcp' ? `${serverLabel(label)}: ${shown}` : shown
}

/** The name of an MCP server as users see it in every question and record. */
export function serverLabel(name: string): string {
  return `MCP ${plainLine(name, titleLength).replaceAll('`', "'")}`
}

/** Whether a person confirms each call of a tool. Any other tool runs at once: its provider decides about its own work. */
export function asks({ annotations }: ToolDefinition): boolean {
  return annotations?.destructiveHint === true
}

/** The tool of a call, as the client that provides it describes it. Undefined if that client does not provide such a tool. */
export function clientTool(
  { activeClients }: SessionState,
  { contributor, toolName }: Pick<ToolCallState, 'contributor' | 'toolName'>,
): ToolDefinition | undefined {
  if (contributor?.kind !== 'client') return undefined
  const client = activeClients.find(({ clientId }) => clientId === contributor.clientId)
  return client?.tools.find(({ name }) => name === toolName)
}

/** Whether a call is for a tool of an MCP server that the host runs for the session. */
export function isServerCall(
  core: Core,
  { uri }: Channel<'session'>,
  { contributor }: Pick<ToolCallState, 'contributor'>,
): boolean {
  return (
    contributor?.kind === 'mcp' &&
    customizationsOf(core)?.server(uri, contributor.customizationId) !== undefined
  )
}

/**
 * Removes the tools of a source whose names an earlier tool of the source has. A call names its tool, so only the
 * first of them can be called.
 */
function distinct(tools: readonly ToolDefinition[]): readonly ToolDefinition[] {
  const byName = new Map(tools.toReversed().map((tool) => [tool.name, tool]))
  return tools.filter((tool) => byName.get(tool.name) === tool)
}

/** Converts a text to a name that every model API accepts. */
function asName(text: string): string {
  const name = text.replaceAll(/[^\w-]+/g, '_').slice(0, nameLength)
  return /[A-Za-z0-9]/.test(name) ? name : 'tool'
}

const nameLength = 64

/** Cuts a name to the permitted length. If it is taken, adds a number. */
function unused(name: string, taken: ReadonlySet<string>): string {
  for (let n = 1; ; n++) {
    const suffix = n === 1 ? '' : `_${n}`
    const candidate = `${name.slice(0, nameLength - suffix.length)}${suffix}`
    if (!taken.has(candidate)) return candidate
  }
}

/**
 * Makes the texts of a definition safe to be read by a model. The name stays, because the provider knows the tool by
 * this name.
 */
function plainDefinition(tool: ToolDefinition): ToolDefinition {
  const { description, inputSchema, annotations, title = annotations?.title } = tool
  return compact<ToolDefinition>({
    ...tool,
    title: title === undefined ? undefined : plainLine(title, titleLength),
    description: description === undefined ? undefined : plainText(description, limits.toolTextLength),
    inputSchema: inputSchema && plainSchema(inputSchema),
    annotations: annotations && without(annotations, 'title'),
  })
}

const titleLength = 100

/**
 * Makes the titles and descriptions in a JSON Schema plain. Values stay as they are, because the tool compares its
 * input with them.
 */
function plainSchema(schema: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => {
      if (typeof value === 'string' && (key === 'title' || key === 'description'))
        return [key, plainText(value, limits.toolTextLength)]
      return [key, valueKeys.has(key) ? value : plainValue(value)]
    }),
  )
}

function plainValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plainValue)
  return isJsonObject(value) ? plainSchema(value) : value
}

/** The keywords whose content is a value and no schema. */
const valueKeys = new Set(['enum', 'const', 'default', 'examples'])
