import { defineKey } from '../../kernel/key.ts'
import type { Telemetry } from './telemetry.ts'

export const telemetryOf = defineKey<Telemetry | undefined>('telemetry')
