import { parts } from '../figures.ts'
import { idleTable } from './idle.ts'
import { rateTable } from './rate.ts'
import { reconnectTable } from './reconnect.ts'

/** Measures the host with many clients, relative to a bare `ws` host in the same run. */
export function loadBench(wanted: readonly string[]): Promise<boolean> {
  return parts(wanted, { idle: idleTable, rate: rateTable, reconnect: reconnectTable })
}
