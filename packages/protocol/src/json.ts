export type JsonObject = { readonly [key: string]: unknown }

/** Whether a value is an object, and neither `null` nor an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
