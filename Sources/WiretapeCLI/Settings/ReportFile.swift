internal import CassettePlayback
internal import TapeProxy

/// A file that a replay's report goes to: JSON or JUnit XML, by the ending of its name.
struct ReportFile: Sendable, Hashable {
    enum Form: Sendable, Hashable { case json, junit }

    let path: String
    let form: Form

    init(_ path: String) throws(SettingError) {
        if path.hasSuffix(".json") {
            self.form = .json
        } else if path.hasSuffix(".xml") {
            self.form = .junit
        } else {
            throw SettingError("\"\(path)\" is no report's name; write one that ends with .json, or with .xml for JUnit")
        }
        self.path = path
    }

    func bytes(_ report: ReplayReport, failOn: FailureRule) -> [UInt8] {
        switch self.form {
        case .json: report.json
        case .junit: report.junit(failOn: failOn.flaws.union([.unserved]))
        }
    }
}
