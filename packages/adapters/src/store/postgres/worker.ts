/** The worker thread of a store or a lease on PostgreSQL. */
import { answerRequests } from './answers.ts'
import { openLease } from './lease-row.ts'
import { openStore } from './store.ts'

answerRequests({ open: openStore, openLease })
