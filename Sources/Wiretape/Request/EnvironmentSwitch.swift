internal import Foundation

/// Reads variables that are there or not.
package enum EnvironmentSwitch {
    /// Services set them to "true" or "1"; people unset them by "false", "no", "0" or nothing.
    package static func isOn(_ value: String?) -> Bool { !["", "0", "false", "no"].contains((value ?? "").lowercased()) }
}
