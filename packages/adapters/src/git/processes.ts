import type { Watchdog } from '../process/watchdog.ts'

/**
 * What ends git if the host dies while git runs: the watchdog, and the marker of this host by which it finds processes. Absent in
 * programs that live as long as their git, such as tests.
 */
export interface GitProcesses {
  readonly watchdog: Watchdog
  readonly mark: string
}
