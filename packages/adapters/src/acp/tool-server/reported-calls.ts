import { fieldsOf } from '../process/schema.ts'
import type { ToolCallUpdate } from '../process/schema.ts'
import type { ServedTool } from './endpoint.ts'

/**
 * The calls of offered tools that an agent reports by `session/update`. The agent also requests such a call from the
 * host's MCP server, and the chat shows the requested call. So a reported call is held back, and is dropped when the
 * request comes. A reported call that asks a user, or ends without a request, is shown: an agent must not hide a call
 * by giving it the name of an offered tool.
 */
export class ReportedCalls {
  readonly #server: string
  readonly #tools: () => readonly ServedTool[]
  readonly #held = new Map<string, { readonly tool: string; readonly updates: ToolCallUpdate[] }>()
  readonly #dropped = new Set<string>()
  /** The tools that were requested and not reported yet. */
  readonly #requested: string[] = []

  constructor(server: string, tools: () => readonly ServedTool[]) {
    this.#server = server
    this.#tools = tools
  }

  /**
   * Takes an update, and returns the updates to show now. Returns none if the call of the update is held back or
   * dropped.
   */
  filter(update: ToolCallUpdate): readonly ToolCallUpdate[] {
    const id = String(update.toolCallId ?? '')
    if (this.#dropped.has(id)) return []
    const held = this.#held.get(id)
    if (held) held.updates.push(update)
    else {
      const tool = this.#toolOf(update)
      if (tool === undefined) return [update]
      const index = this.#requested.indexOf(tool)
      if (index >= 0) {
        this.#requested.splice(index, 1)
        this.#dropped.add(id)
        return []
      }
      this.#held.set(id, { tool, updates: [update] })
    }
    return update.status === 'completed' || update.status === 'failed' ? this.release(id) : []
  }

  /** Notes that the agent has requested a call of a tool. */
  requested(tool: string): void {
    const [id] = [...this.#held].find(([, held]) => held.tool === tool) ?? []
    if (id === undefined) return void this.#requested.push(tool)
    this.#held.delete(id)
    this.#dropped.add(id)
  }

  /**
   * Returns the updates of a call that was held back, because the call must be shown. Without an id, returns the updates of all
   * calls that were held back.
   */
  release(id?: string): readonly ToolCallUpdate[] {
    const ids = id === undefined ? [...this.#held.keys()] : [id]
    const released = ids.flatMap((each) => this.#held.get(each)?.updates ?? [])
    for (const each of ids) this.#held.delete(each)
    return released
  }

  /**
   * Returns the offered tool that an update names. Only the names that agents give to tools of MCP servers are
   * recognized, for example `mcp__server__tool`.
   */
  #toolOf({ title, name, rawInput }: ToolCallUpdate): string | undefined {
    const input = fieldsOf(rawInput)
    const invocation = fieldsOf(input['invocation'])
    const server = this.#server
    return this.#tools().find(({ name: tool }) => {
      const names = [
        `mcp__${server}__${tool}`,
        `${server}__${tool}`,
        `${server}.${tool}`,
        `${server}/${tool}`,
        `Tool: ${server}/${tool}`,
        `${tool} (${server} MCP Server)`,
      ]
      const isNamed = [title, name].some((each) => typeof each === 'string' && names.includes(each))
      return isNamed || [input, invocation].some((each) => each['server'] === server && each['tool'] === tool)
    })?.name
  }
}
