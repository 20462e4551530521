export { member, ownMember, textMember } from '../../link/member.ts'
