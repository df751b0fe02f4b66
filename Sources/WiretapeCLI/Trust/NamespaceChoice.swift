internal import Platform
internal import TapeTrust

/// Whether a program runs in a mount namespace of its own, and a notice about it.
struct NamespaceChoice: Hashable {
    /// Nil to run the program without a namespace.
    var plan: NamespacePlan?
    var notice: String?

    /// - Parameters:
    ///   - authority: the recorder's certificate as PEM.
    ///   - obstacle: tries a plan; returns nil if it works.
    ///   - prepare: makes the plan; called only if one is wanted.
    /// - Throws: if a namespace was asked for and is not available.
    static func make(
        _ means: TrustMeans, authority: [UInt8], systemRoots: () -> [UInt8] = Self.systemRoots,
        obstacle: (NamespacePlan) -> NamespaceAdvice? = Self.obstacle, prepare: () throws(TrustError) -> NamespacePlan
    ) throws(TrustError) -> NamespaceChoice {
        // If the authority is among the system's roots, every program trusts it already.
        if means == .env || means == .auto && PEMCertificates.contains(systemRoots(), authority) { return NamespaceChoice() }
        let plan: NamespacePlan
        do throws(TrustError) {
            plan = try prepare()
        } catch {
            // With `auto`, a namespace is optional: its failure must not stop the run.
            guard means == .auto else { throw error }
            return NamespaceChoice(notice: error.message)
        }
        guard let advice = obstacle(plan) else { return NamespaceChoice(plan: plan) }
        guard means == .auto else { throw TrustError(advice.refusal) }
        return NamespaceChoice(notice: advice.notice)
    }

    /// The same for a program that is isolated as well: the namespaces are then needed whatever the means.
    ///
    /// - Parameter isolation: only tried here.
    static func isolated(
        _ means: TrustMeans, authority: [UInt8], isolation: NamespacePlan.Isolation, holder: String,
        systemRoots: () -> [UInt8] = Self.systemRoots, obstacle: (NamespacePlan) -> NamespaceAdvice? = Self.obstacle,
        prepare: () throws(TrustError) -> NamespacePlan
    ) throws(TrustError) -> NamespaceChoice {
        let coversRoots = means == .namespace || means == .auto && !PEMCertificates.contains(systemRoots(), authority)
        var plan = coversRoots ? try prepare() : NamespacePlan(bundle: "", holder: holder, files: [], folders: [], roots: [])
        plan.isolation = isolation
        if let advice = obstacle(plan) { throw TrustError(advice.isolationRefusal) }
        return NamespaceChoice(plan: plan)
    }

    /// The command line that runs `command` in the namespace. It is `command` itself if its program does not exist; that then fails as
    /// usual.
    func command(_ command: [String], path: String = ProgramSearch.folders) -> [String] {
        #if os(Linux)
        guard let plan, let name = command.first else { return command }
        // An isolated command never runs without its namespaces, whatever becomes of its file.
        guard plan.isolation != nil || ProgramSearch.file(name, in: path) != nil else { return command }
        return [NamespaceProbe.ownProgram] + plan.arguments(for: command)
        #else
        return command
        #endif
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

/// Tries a plan in a child process that then ends, so that an obstacle is known before anything runs or is recorded.
enum NamespaceProbe {
    #if os(Linux)
    /// This program, even if its file has been replaced.
    static let ownProgram = "/proc/self/exe"

    /// - Returns: nil if it works.
    static func obstacle(to plan: NamespacePlan, program: String = Self.ownProgram) -> NamespaceObstacle? {
        guard !plan.isEmpty else { return NamespaceObstacle(step: .nothingToCover, number: 0) }
        guard let said = ProgramOutput.text(of: program, ["wiretape"] + plan.arguments(for: [])), said.status != 0 else { return nil }
        let line = String(decoding: said.output, as: UTF8.self).split(separator: "\n").last ?? ""
        return NamespaceObstacle(line: line) ?? NamespaceObstacle(step: .unknown, number: 0)
    }
    #endif
}
