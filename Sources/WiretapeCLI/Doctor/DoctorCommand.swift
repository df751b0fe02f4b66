internal import ArgumentParser
internal import CassetteModel
internal import CassetteTools
internal import ClientCapabilities
internal import TapeBytes

struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check this machine: what can be recorded, which authority is trusted, and which calls of URLSession end a process.",
        discussion: """
            Changes nothing. Exits with 1 if something that --require names is not available.

            Examples:
              wiretape doctor
              wiretape doctor --require https --require authority
              wiretape doctor --json | jq '.capabilities[] | select(.fatal)'
            """)

    @Option(
        help: ArgumentHelp(
            "Fail unless this is available: swift, libcurl, namespace, isolation, authority, system-trust, https (of URLSession). Repeatable.",
            valueName: "what"))
    var require: [CheckupRequirement] = []

    @Flag(help: "Print one JSON object.")
    var json = false

    @OptionGroup var authority: AuthorityOptions

    func run() throws {
        SignalThread.unblock()
        try TrustError.reporting { () throws(TrustError) in
            let checkup = Checkup(try CheckupReadings.take(self.authority))
            let page = CheckupPage(checkup: checkup)
            if self.json { Terminal.output.line(page.json) } else { for line in page.lines { Terminal.output.line(line) } }
            let missing = checkup.missing(self.require)
            guard let last = missing.last else { return }
            for line in missing.dropLast() { Terminal.error.complain(line) }
            throw TrustError(last)
        }
    }
}

/// A requirement for `wiretape doctor --require`.
enum CheckupRequirement: String, CaseIterable, ExpressibleByArgument {
    case swift
    case libcurl
    /// A program can be given a mount namespace of its own.
    case namespace
    /// A program can be given a network of its own.
    case isolation
    /// The authority is there and can be used.
    case authority
    /// The authority is among the system's roots.
    case systemTrust = "system-trust"
    /// HTTPS of URLSession can be recorded without changing its URLs.
    case https
}

/// A checkup for people, in lines of at most 80 columns, and as JSON.
struct CheckupPage {
    static let width = 80
    private static let markWidth = 9

    let checkup: Checkup

    var lines: [String] {
        let names = self.checkup.findings.map(\.name.count).max() ?? 0
        var lines = [self.title, ""]
        for finding in self.checkup.findings {
            let head = Self.padded(finding.mark.rawValue, Self.markWidth) + Self.padded(finding.name, names + 2)
            let text = finding.remedy.map { "\(finding.text): \($0)." } ?? "\(finding.text)."
            lines += Self.wrapped(VisibleText.line(text), after: head)
        }
        let capabilities = self.checkup.report.capabilities
        let sections: [(String, [Capability])] = [
            ("ends or hangs the process", capabilities.filter(\.isFatal)),
            ("does not work", capabilities.filter { $0.state == .no && !$0.isFatal }),
            ("works in part", capabilities.filter { $0.state == .limited && !$0.isFatal }),
            ("works", capabilities.filter { $0.state == .yes }),
        ]
        for (title, members) in sections where !members.isEmpty {
            lines += ["", "URLSession\(self.release): \(title)"]
            for capability in members { lines += [""] + Self.lines(capability) }
        }
        return lines
    }

    private static func lines(_ capability: Capability) -> [String] {
        let remedy = capability.remedy.map { " Instead: \($0)." } ?? ""
        let releases = capability.releases == .all ? "" : " (\(capability.releases).)"
        return self.wrapped(capability.title, after: "  ") + self.wrapped(capability.sentence + remedy + releases, after: "      ")
    }

    private var title: String {
        let system =
            switch self.checkup.readings.facts.system {
            case .linux: "Linux"
            case .macOS: "macOS"
            case .iOS: "iOS"
            }
        return "wiretape \(Version.current) on \(system)"
    }

    private var release: String { self.checkup.readings.facts.swift.map { " with Swift \($0)" } ?? "" }

    private static func padded(_ text: String, _ width: Int) -> String { text + String(repeating: " ", count: max(1, width - text.count)) }

    /// Lines of at most `width` columns, as far as words allow; lines after the first are indented by the width of `head`.
    static func wrapped(_ text: String, after head: String) -> [String] {
        var lines: [String] = []
        var line = head
        var isEmpty = true
        for word in text.split(separator: " ") {
            if !isEmpty, line.count + 1 + word.count > self.width {
                lines.append(line)
                line = String(repeating: " ", count: head.count)
                isEmpty = true
            }
            line += (isEmpty ? "" : " ") + word
            isEmpty = false
        }
        return lines + [line]
    }

    /// One JSON object with `version`, `system`, `swift`, `libcurl`, `findings` and `capabilities`.
    var json: String {
        var writer = JSONWriter()
        writer.beginObject(.lines)
        writer.member("version")
        writer.string(Version.current)
        writer.member("system")
        writer.string(self.checkup.readings.facts.system.rawValue)
        if let swift = self.checkup.readings.facts.swift {
            writer.member("swift")
            writer.string(swift.description)
        }
        if let libcurl = self.checkup.readings.facts.libcurl {
            writer.member("libcurl")
            writer.string(libcurl.version)
        }
        writer.member("findings")
        writer.beginArray(.lines)
        for finding in self.checkup.findings {
            writer.element()
            writer.beginObject(.inline)
            writer.member("mark")
            writer.string(finding.mark.rawValue)
            writer.member("name")
            writer.string(finding.name)
            writer.member("text")
            writer.string(finding.text)
            if let remedy = finding.remedy {
                writer.member("remedy")
                writer.string(remedy)
            }
            writer.endObject()
        }
        writer.endArray()
        writer.member("capabilities")
        self.checkup.report.write(into: &writer)
        writer.endObject()
        return VisibleText.whole(writer.bytes, .json)
    }
}
