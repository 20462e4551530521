import { isJsonObject } from '@atrium/protocol/json'
import { hasHidden } from './plugin-text.ts'

// The shapes of values in the JSON files of plugins.

export function isText(value: unknown): value is string {
  return typeof value === 'string'
}

export function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(isText)
}

/** Whether a value is a text that can be part of a command line. A NUL is refused, because the system ends a text at NUL. */
export function isArgument(value: unknown): value is string {
  return typeof value === 'string' && !value.includes('\0')
}

export function isArguments(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(isArgument)
}

/** Whether a value is a set of environment variables. */
export function isEnvironment(value: unknown): value is { readonly [name: string]: string } {
  return (
    isJsonObject(value) && Object.entries(value).every(([name, each]) => isVariable(name) && isArgument(each))
  )
}

function isVariable(name: string): boolean {
  return name !== '' && !name.includes('=') && !hasHidden(name)
}

/** Whether a value is a set of headers. A line break is refused, because it would begin another header. */
export function isHeaders(value: unknown): value is { readonly [name: string]: string } {
  return (
    isJsonObject(value) &&
    Object.entries(value).every(
      ([name, each]) => /^[\w!#$%&'*+.^`|~-]+$/.test(name) && isText(each) && !/[\r\n\0]/.test(each),
    )
  )
}
