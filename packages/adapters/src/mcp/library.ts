import type * as Client from '@modelcontextprotocol/client'
import { McpFailed } from '@atrium/host/ports/mcp'

/** The MCP library. Only this file loads it, when the first server is used: most hosts start without one. */
export type Library = typeof Client

let loading: Promise<Library> | undefined

export function loadLibrary(): Promise<Library> {
  loading ??= import('@modelcontextprotocol/client').catch((error: unknown) => {
    loading = undefined
    throw new McpFailed(`The MCP library could not be loaded: ${String(error)}`)
  })
  return loading
}

/**
 * The longest time of a timer, in milliseconds. The library's own timeouts are set to this value, because the host
 * limits the time itself.
 */
export const never = 2 ** 31 - 1
