/** The worker thread of a search index on PostgreSQL. */
import { answerRequests } from '../../store/postgres/answers.ts'
import { openSearch } from './search.ts'

answerRequests({ openSearch })
