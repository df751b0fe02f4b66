/// A value that a run was given, and who gave it.
struct Setting<Value: Sendable & Hashable>: Sendable, Hashable {
    var value: Value
    var source: SettingSource
}
