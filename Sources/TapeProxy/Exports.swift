// The names of other targets that stand in public signatures of this module: whoever imports TapeProxy can write them. Scoped, so that
// nothing else of those targets gets into the importing file. See the same file of Wiretape.
@_exported public import struct TapeCore.CassetteError
@_exported public import class TapeCore.CassetteSession
@_exported public import struct TapeCore.DateRefresh
@_exported public import struct TapeCore.HostPattern
@_exported public import enum TapeCore.Latency
@_exported public import struct TapeCore.LiveRedactor
@_exported public import struct TapeCore.MatchRuleTexts
@_exported public import struct TapeCore.MatchRules
@_exported public import enum TapeCore.RecordMode
@_exported public import class TapeCore.RecordedCassette
@_exported public import struct TapeCore.RedactionRules
@_exported public import enum TapeCore.Repetition
@_exported public import enum TapeCore.ReplayOrder
@_exported public import struct TapeCore.ReplayReport
@_exported public import enum TapeCore.ServerTrust
@_exported public import struct TapeCore.Timestamp
@_exported public import struct TapeCore.Verdict
@_exported public import enum TapeCore.VerdictFlaw
@_exported public import class TapeRecorder.Recorder
@_exported public import struct TapeRecorder.RecorderProblem
@_exported public import struct TapeRecorder.RecorderStatus
@_exported public import struct TapeRecorder.RecordingPlan
@_exported public import class TapeTLS.ClientIdentity
@_exported public import class TapeTLS.KeyLog
@_exported public import enum TapeTLS.TLSVersion
