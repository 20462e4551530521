// Each of these files registers its named shapes when it is loaded.
import './channels.ts'
import './commands.ts'
import './error-data.ts'
import './rpc/shapes.ts'
import { jsonSchema } from './schema.ts'
import { nativeVersion } from './versions/negotiate.ts'

/** The whole protocol as one JSON Schema document: states, actions, params, results, messages and error data. */
export function protocolDocument(): object {
  return jsonSchema(`ahp-${nativeVersion}.schema.json`)
}
