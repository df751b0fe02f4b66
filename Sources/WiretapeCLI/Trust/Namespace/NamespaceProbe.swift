internal import Platform

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
