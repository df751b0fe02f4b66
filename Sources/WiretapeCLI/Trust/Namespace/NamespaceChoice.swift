internal import Platform
internal import TapeTrust

/// Whether a program is run in a namespace of its own, and what a person should know of it.
struct NamespaceChoice: Hashable {
    /// Nil where it is run as it is.
    var plan: NamespacePlan?
    var notice: String?

    /// - Parameters:
    ///   - authority: the recorder's certificate as PEM.
    ///   - obstacle: tries a plan; nil where it works.
    ///   - prepare: makes the plan, where one is wanted.
    /// - Throws: where a namespace was asked for and cannot be had.
    static func make(
        _ means: TrustMeans, authority: [UInt8], systemRoots: () -> [UInt8] = Self.systemRoots,
        obstacle: (NamespacePlan) -> NamespaceAdvice? = Self.obstacle, prepare: () throws(TrustError) -> NamespacePlan
    ) throws(TrustError) -> NamespaceChoice {
        // Where the authority is among the system's roots, every program trusts it already.
        if means == .env || means == .auto && PEMCertificates.contains(systemRoots(), authority) { return NamespaceChoice() }
        let plan: NamespacePlan
        do throws(TrustError) {
            plan = try prepare()
        } catch {
            // What is a bonus must not stop a run that can do without.
            guard means == .auto else { throw error }
            return NamespaceChoice(notice: error.message)
        }
        guard let advice = obstacle(plan) else { return NamespaceChoice(plan: plan) }
        guard means == .auto else { throw TrustError(advice.refusal) }
        return NamespaceChoice(notice: advice.notice)
    }

    /// The command line that runs `command` so; as it is where there is no such program, which is then told as ever.
    func command(_ command: [String], path: String = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin") -> [String] {
        #if os(Linux)
        guard let plan, let name = command.first, Self.isThere(name, path: path) else { return command }
        return [NamespaceProbe.ownProgram] + plan.arguments(for: command)
        #else
        return command
        #endif
    }

    private static func isThere(_ name: String, path: String) -> Bool {
        if name.contains("/") { return access(name, X_OK) == 0 }
        return path.split(separator: ":", omittingEmptySubsequences: false).contains {
            access("\($0.isEmpty ? "." : $0)/\(name)", X_OK) == 0
        }
    }

    static func systemRoots() -> [UInt8] {
        #if os(Linux)
        return SystemRoots.files().reduce(into: []) { $0 += (try? WholeFile.read($1)) ?? [] }
        #else
        return []
        #endif
    }

    static func obstacle(_ plan: NamespacePlan) -> NamespaceAdvice? {
        #if os(Linux)
        return NamespaceProbe.obstacle(to: plan).map { NamespaceAdvice($0, .read()) }
        #else
        return NamespaceAdvice(reason: "there are no mount namespaces here", remedy: "run \"wiretape ca install\"")
        #endif
    }
}

/// Tries a plan in a child that then ends, so that what the system forbids is known before anything is run or recorded.
enum NamespaceProbe {
    #if os(Linux)
    /// This program, also where its file was replaced meanwhile.
    static let ownProgram = "/proc/self/exe"

    /// - Returns: nil where it works.
    static func obstacle(to plan: NamespacePlan, program: String = Self.ownProgram) -> NamespaceObstacle? {
        guard !plan.files.isEmpty || !plan.folders.isEmpty else { return NamespaceObstacle(step: .nothingToCover, number: 0) }
        guard let said = ProgramOutput.text(of: program, ["wiretape"] + plan.arguments(for: [])), said.status != 0 else { return nil }
        let line = String(decoding: said.output, as: UTF8.self).split(separator: "\n").last ?? ""
        return NamespaceObstacle(line: line) ?? NamespaceObstacle(step: .unknown, number: 0)
    }
    #endif
}
