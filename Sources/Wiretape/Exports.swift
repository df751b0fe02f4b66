// The names of TapeCore that stand in public signatures of this module: whoever imports Wiretape can write them. Scoped, so that nothing
// else of TapeCore gets into the importing file. `@_exported` has no spelling without the underscore yet; type aliases in its place hide
// the members from files with MemberImportVisibility.
@_exported public import struct TapeCore.Arrival
@_exported public import struct TapeCore.CassetteError
@_exported public import struct TapeCore.CustomMatch
@_exported public import struct TapeCore.Failure
@_exported public import struct TapeCore.FormDataBoundary
@_exported public import struct TapeCore.FormDataError
@_exported public import struct TapeCore.FormDataFile
@_exported public import struct TapeCore.FormDataPart
@_exported public import enum TapeCore.FormDataSource
@_exported public import struct TapeCore.FormDataStream
@_exported public import struct TapeCore.HeaderFields
@_exported public import enum TapeCore.Latency
@_exported public import struct TapeCore.MatchRuleError
@_exported public import struct TapeCore.MatchRuleTexts
@_exported public import struct TapeCore.MatchRules
@_exported public import struct TapeCore.MatchedRequest
@_exported public import struct TapeCore.MissReport
@_exported public import struct TapeCore.MultipartFormData
@_exported public import struct TapeCore.OrderViolation
@_exported public import enum TapeCore.RecordMode
@_exported public import struct TapeCore.RedactionRuleError
@_exported public import struct TapeCore.RedactionRules
@_exported public import enum TapeCore.Repetition
@_exported public import enum TapeCore.ReplayOrder
@_exported public import struct TapeCore.ReplayReport
@_exported public import struct TapeCore.SecretValue
@_exported public import struct TapeCore.Timing
@_exported public import struct TapeCore.UnservedAnswer
@_exported public import struct TapeCore.Verdict
@_exported public import enum TapeCore.VerdictFlaw
