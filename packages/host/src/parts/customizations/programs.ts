import type { Component } from '../../plugins/plugin.ts'
import type { Programs } from './consent.ts'
import type { Loaded } from './loaded.ts'

/** Returns the programs of a source: the command lines of its hooks and of its MCP servers. */
export function programsOf({ parts, digest = '' }: Loaded): Programs {
  return { digest, lines: parts.components.flatMap(linesOf) }
}

/** The programs of one component. The digest is that of the whole source, because a program may read any file of it. */
export function programsIn({ digest = '' }: Loaded, component: Component): Programs {
  return { digest, lines: linesOf(component) }
}

/**
 * The full command lines of a component, for users; for a remote server, its URL. Empty if the component runs
 * nothing.
 */
export function linesOf(component: Component): readonly string[] {
  if (component.kind === 'hook')
    return component.hooks.map(({ event, command }) => `${event}: ${Object.values(command).join(' | ')}`)
  if (component.kind !== 'mcpServer') return []
  const { server } = component
  return ['command' in server ? [server.command, ...(server.args ?? [])].join(' ') : server.url]
}
