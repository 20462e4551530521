import type { ToolAnnotations, ToolDefinition } from '@atrium/protocol/session/state'
import { isJsonObject } from '@atrium/protocol/json'
import type { JsonObject } from '@atrium/protocol/json'
import { visibleJson, visibleText } from '@atrium/protocol/text/visible'
import type { McpLimits } from './context.ts'

/** A tool as users and models see it, and as its server knows it. */
export interface ListedTool {
  readonly definition: ToolDefinition
  /** The server's own definition. Its name may begin or end with spaces. */
  readonly own: JsonObject & { readonly name: string }
}

/** Returns a page of the server's list of tools, from a cursor. */
export type ListPage = (cursor: string | undefined) => Promise<unknown>

/**
 * Reads the tools of a server, page by page. Everything in the list is untrusted: hidden characters are removed from texts,
 * and a tool that cannot be used is left out. If two tools have the same name, the first one counts.
 */
export async function listTools(
  listPage: ListPage,
  limits: McpLimits,
): Promise<ReadonlyMap<string, ListedTool>> {
  const tools = new Map<string, ListedTool>()
  const seen = new Set<string>()
  for (let cursor: string | undefined; ;) {
    const page = await listPage(cursor)
    const { tools: listed, nextCursor } = isJsonObject(page) ? page : {}
    for (const own of Array.isArray(listed) ? listed : []) {
      const tool = toolOf(own, limits)
      if (tool && !tools.has(tool.definition.name)) tools.set(tool.definition.name, tool)
      if (tools.size >= limits.mcpTools) return tools
    }
    // A server may answer with the same cursors, or with empty pages, for ever. So the reading ends at a known
    // cursor, and after `maxPages` pages.
    if (typeof nextCursor !== 'string' || seen.has(nextCursor) || seen.size >= maxPages) return tools
    seen.add(nextCursor)
    cursor = nextCursor
  }
}

/** Returns a tool of a list, or undefined if it cannot be used. */
export function toolOf(own: unknown, limits: McpLimits): ListedTool | undefined {
  if (!isJsonObject(own) || typeof own['name'] !== 'string') return undefined
  const name = own['name'].trim()
  if (name === '' || name.length > limits.mcpNameLength || name !== visibleText(name) || /\n/.test(name))
    return undefined
  const { title, description, inputSchema, outputSchema, annotations } = own
  if (![inputSchema, outputSchema].every((schema) => schema === undefined || isUsable(schema, limits)))
    return undefined
  const text = (value: unknown, length: number) =>
    typeof value === 'string' ? visibleText(value.slice(0, length)) : undefined
  const shown = {
    title: text(title, limits.mcpNameLength),
    description: text(description, limits.mcpDescriptionLength),
    inputSchema: schemaOf(inputSchema),
    outputSchema: schemaOf(outputSchema),
    annotations: isJsonObject(annotations) ? annotationsOf(annotations, limits) : undefined,
  }
  const definition = Object.fromEntries(
    Object.entries({ name, ...shown }).filter(([, value]) => value !== undefined),
  )
  // `fromEntries` loses the names of the keys; the cast restores them.
  return { definition: definition as unknown as ToolDefinition, own: { ...own, name: own['name'] } }
}

/** Returns whether a value is an object of limited length and depth. The depth is checked first, and without recursion. */
export function isUsable(value: unknown, limits: McpLimits): value is JsonObject {
  return (
    isJsonObject(value) &&
    isShallow(value, limits.mcpSchemaDepth) &&
    JSON.stringify(value).length <= limits.mcpSchemaLength
  )
}

/** Returns whether a value has at most this many levels of objects and arrays. */
export function isShallow(value: unknown, depth: number): boolean {
  let level: readonly unknown[] = [value]
  for (let left = depth; ; left--) {
    level = level.filter((each) => typeof each === 'object' && each !== null)
    if (level.length === 0) return true
    if (left === 0) return false
    level = level.flatMap((each) => Object.values(each as object))
  }
}

function schemaOf(schema: unknown): JsonObject | undefined {
  const visible = schema === undefined ? undefined : visibleJson(schema)
  return isJsonObject(visible) ? visible : undefined
}

function annotationsOf(annotations: JsonObject, { mcpNameLength }: McpLimits): ToolAnnotations {
  const { title } = annotations
  const hints = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'].flatMap((name) =>
    typeof annotations[name] === 'boolean' ? [[name, annotations[name]] as const] : [],
  )
  return {
    ...(typeof title === 'string' && { title: visibleText(title.slice(0, mcpNameLength)) }),
    ...Object.fromEntries(hints),
  }
}

const maxPages = 64
