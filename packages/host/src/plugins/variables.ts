import { patch } from '@atrium/protocol/update'
import { formats } from './formats.ts'
import type { FormatName, Variable } from './formats.ts'
import type { Hook, HookCommand } from './hooks.ts'
import type { Component } from './plugin.ts'
import type { ProgramConfig, ServerConfig } from './servers.ts'

/** The directories of a plugin on this machine. */
export interface PluginDirectories {
  readonly root: string
  /** The directory for the data of the plugin. The caller has created it, and an update of the plugin does not delete it. */
  readonly data: string
}

/**
 * Replaces the variables in a component by the directories. The format decides which variables there are, and which fields may
 * contain them. Nothing else is expanded.
 */
export function withDirectories(
  component: Component,
  format: FormatName,
  directories: PluginDirectories,
): Component {
  if (component.kind === 'mcpServer')
    return { ...component, server: expandedServer(component.server, format, directories) }
  if (component.kind !== 'hook') return component
  const { hookVariables } = formats[format]
  const hooks = component.hooks.map((hook) => expandedHook(hook, valuesOf(hookVariables, directories)))
  return { ...component, hooks }
}

type Values = ReadonlyMap<string, string>

function valuesOf(variables: readonly Variable[], { root, data }: PluginDirectories): Values {
  return new Map(variables.map((variable) => [variable, variable === 'PLUGIN_DATA' ? data : root]))
}

/** Expands each variable once: a directory whose name looks like a variable is left as it is. */
function expanded(text: string, values: Values): string {
  return text.replace(pattern, (written, name: string) => values.get(name) ?? written)
}

const pattern = /\$\{(\w+)\}/g

/**
 * Expands the variables in the configuration of a server, and sets the same variables in the server's environment.
 * There they override variables of the same names that the plugin has set.
 */
function expandedServer(
  server: ServerConfig,
  format: FormatName,
  directories: PluginDirectories,
): ServerConfig {
  if (!('command' in server)) return server
  const { variables, fields } = formats[format].server
  const values = valuesOf(variables, directories)
  const { command, args, env, cwd } = server
  const wanted = new Set<string>(fields)
  return patch<ProgramConfig>(server, {
    command: wanted.has('command') ? expanded(command, values) : command,
    args: args?.map((each) => expanded(each, values)),
    env: { ...expandedEnv(env ?? {}, values), ...Object.fromEntries(values) },
    cwd: cwd === undefined ? undefined : expanded(cwd, values),
  })
}

function expandedEnv(
  env: { readonly [name: string]: string },
  values: Values,
): { readonly [name: string]: string } {
  return Object.fromEntries(Object.entries(env).map(([name, value]) => [name, expanded(value, values)]))
}

function expandedHook(hook: Hook, values: Values): Hook {
  const { any, windows, linux, osx } = hook.command
  const unix = (line: string | undefined) =>
    line === undefined ? undefined : expandedLine(line, values, inShell)
  const command = patch<HookCommand>(hook.command, {
    any: unix(any),
    linux: unix(linux),
    osx: unix(osx),
    windows: windows === undefined ? undefined : expandedLine(windows, values, inPowerShell),
  })
  const env = { ...expandedEnv(hook.env ?? {}, values), ...Object.fromEntries(values) }
  return patch<Hook>(hook, { command, env: Object.keys(env).length === 0 ? undefined : env })
}

/** The quotes around a place in a command line: none, single or double. */
type Quotes = '' | "'" | '"'
type Quoting = (value: string, quotes: Quotes) => string

/** Expands the variables of a command line, so that a directory stays one word whatever characters its name has. */
function expandedLine(line: string, values: Values, quoting: Quoting): string {
  let quotes: Quotes = ''
  let from = 0
  return line.replace(pattern, (written, name: string, at: number) => {
    quotes = quotesAt(line, from, at, quotes)
    from = at + written.length
    const value = values.get(name)
    return value === undefined ? written : quoting(value, quotes)
  })
}

/** Returns the quotes around the place `to` in a command line. `before`: the quotes around the place `from`. */
function quotesAt(line: string, from: number, to: number, before: Quotes): Quotes {
  let quotes = before
  for (let at = from; at < to; at++) {
    const c = line[at]
    if (c === '\\' && quotes !== "'") at++
    else if ((c === '"' || c === "'") && quotes === '') quotes = c
    else if (c === quotes) quotes = ''
  }
  return quotes
}

const inShell: Quoting = (value, quotes) => {
  if (quotes === '"') return value.replace(/[\\"$`]/g, '\\$&')
  const escaped = value.replaceAll("'", "'\\''")
  return quotes === "'" || /^[\w@%+=:,./-]+$/.test(value) ? escaped : `'${escaped}'`
}

/** PowerShell escapes with a backtick. Between single quotes, a single quote is doubled. */
const inPowerShell: Quoting = (value, quotes) => {
  if (quotes === '"') return value.replace(/[`"$]/g, '`$&')
  const escaped = value.replaceAll("'", "''")
  return quotes === "'" || /^[\w@%+=:,./\\-]+$/.test(value) ? escaped : `'${escaped}'`
}
