internal import ArgumentParser
internal import CassetteModel
internal import CassettePlayback
internal import CassetteStore
internal import CassetteTools
internal import TapeProxy

/// The descriptors that name the fields of gRPC messages, for every command that compares or shows them.
struct DescriptorOptions: ParsableArguments {
    static let help = ArgumentHelp(
        "Name the fields of gRPC messages by this file of \"protoc --include_imports --descriptor_set_out\", or a folder of such files. Repeatable.",
        valueName: "file")

    @Option(help: Self.help, completion: .file())
    var descriptors: [String] = []

    /// Nil without the option.
    func schema() throws(CassetteError) -> ProtoSchema? { try DescriptorFiles.schema(self.descriptors) }
}

/// The reports of a replay, for the commands that replay one cassette.
struct ReportOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Write a report of the replay: FILE.json, or FILE.xml for JUnit. Repeatable.", valueName: "file"),
        completion: .file(), transform: { try ReportFile($0) })
    var report: [ReportFile] = []
}

/// A file for a replay's report: JSON or JUnit XML, by its extension.
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
            throw SettingError("\"\(path)\" is not the name of a report; write one that ends with .json, or with .xml for JUnit")
        }
        self.path = path
    }

    /// - Parameter isolation: nil if the program was not isolated.
    func bytes(_ report: ReplayReport, failOn: FailureRule, isolation: IsolationLines? = nil) -> [UInt8] {
        var report = report
        if let isolation, failOn.others.contains(.escapes), isolation.report.refusals > 0 {
            report.otherFlaws.append(FailureRule.Other.escapes.rawValue)
        }
        switch self.form {
        case .json: return Array(VisibleText.whole(isolation?.added(toJSON: report.json) ?? report.json, .json).utf8)
        case .junit:
            if let isolation { report.checks.append(isolation.check(isFailure: failOn.others.contains(.escapes))) }
            return Array(
                VisibleText.whole(report.junit(failOn: failOn.failing.union([.unserved]), failingChecks: failOn.failingChecks), .xml).utf8)
        }
    }
}
