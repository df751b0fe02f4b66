internal import CassetteModel
internal import CassettePlayback
internal import CassetteRun
internal import CassetteStore
internal import LocalHTTP
internal import NIOCore
internal import TapeExchange
internal import TapeRecorder
internal import TrafficRules

/// Opening sessions.
extension SessionServer {
    /// Opens the cassette and admits clients.
    ///
    /// - Throws: `SessionError` for an invalid order, `CassetteError` if the cassette cannot be opened, `RunPlan.Expired` if it is too
    ///   old, `MatchRuleError` and `SettingSyntaxError` for invalid rules.
    func open(_ order: SessionOrder) throws -> OpenSession {
        self.endAbandoned()
        let path = try self.path(order)
        // Under the lock: if two sessions find no cassette, only one of them may create it.
        let name = try self.registry.withLock { registry in
            try registry.reserve(order.name, cassette: path, writes: try Self.writes(order, path))
        }
        do {
            let open = try self.open(order, path, name)
            do {
                try self.registry.withLock { try $0.opened(name, open) }
            } catch {
                try? self.beginEnd(open).wait()
                _ = self.close(open, keepsOld: true)
                throw error
            }
            return open
        } catch {
            self.registry.withLock { $0.closed(name) }
            self.loops.shared.log.sessionRefused(name)
            throw error
        }
    }

    /// Ends sessions that their owners left open when they ended, because each would block its cassette for all others.
    private func endAbandoned() {
        for session in self.registry.withLock({ $0.open }) {
            guard let owner = session.parts.owner, !owner.isRunning else { continue }
            // Another request may be ending it right now.
            guard let report = try? self.end(session.name, keepsOld: true) else { continue }
            self.notice(
                "session \"\(report.label ?? report.name.text)\": its process \(owner.id) has ended, so the session was ended as if its test had failed."
            )
        }
    }

    private func path(_ order: SessionOrder) throws(CassetteError) -> String {
        do throws(CassetteError) {
            return try self.configuration.folder.cassette(order.cassette, makesFolders: order.makesFolders && order.mode != .none)
        } catch {
            // Without its folder there is no cassette either, and a replay does not create one.
            throw error.code == .notFound && order.mode == .none ? Self.noCassette(order) : error
        }
    }

    private static func noCassette(_ order: SessionOrder) -> CassetteError {
        CassetteError(
            .notFound, "there is no cassette \"\(order.cassette)\": record it with \"mode\": \"once\", or name another.")
    }

    private static func writes(_ order: SessionOrder, _ path: String) throws(CassetteError) -> Bool {
        let exists = CassettePlace.exists(path, for: order.mode)
        guard exists || order.mode != .none else { throw self.noCassette(order) }
        return try RecordingPlan(path: path, mode: order.mode, exists: exists).target != .nothing
    }

    private func open(_ order: SessionOrder, _ path: String, _ name: SessionName) throws -> OpenSession {
        let notice = self.notice
        let tell: @Sendable (String) -> Void = { notice("session \"\(name)\": \($0)") }
        let settings = self.configuration.settings(path).adding(order.settings)
        var options = try settings.planOptions(mayRerecord: order.mode != .none, secret: self.configuration.secret)
        options.audience = .session
        options.remedy = "record it again with \"mode\": \"all\""
        let plan = try Self.plan(path, order, options)
        let records = plan.recording.target != .nothing
        if records { try self.registry.withLock { try $0.willWrite(name) } }
        let cassette = try OpenCassette(
            plan, version: self.configuration.version, digest: { FastSHA256() },
            refusesUnrecorded: self.configuration.diskFullPolicy == .refuse, notify: tell)
        var notices = cassette.notices
        if records {
            notices += settings.missingSecrets(secret: self.configuration.secret).map {
                "the environment has no \"\($0)\", so its value is not searched for: start wiretape with it, or leave it out of \"secretEnv\"."
            }
        }
        for notice in notices { tell(notice) }
        var page: SessionPage?
        do {
            // Also without rules: the control API, or a page, may give some.
            let rules =
                try settings.ruleEngine(match: plan.rules, redaction: plan.redaction, mayGetRules: true)
                ?? RuleEngine(TrafficRules(), match: plan.rules)
            let desk = PauseDesk()
            let isShown = cassette.recorder != nil || cassette.cassette != nil
            page =
                try !isShown
                ? nil
                : self.configuration.page?(
                    ShownSession(
                        name: "\(name)", cassetteName: order.cassette, path: cassette.recorder?.path ?? path, session: cassette.session,
                        recorder: cassette.recorder, recorded: cassette.cassette, rules: rules, desk: desk,
                        judgesClient: settings.value(Settings.verdict) != nil))
            if let page { tell("inspector on \(page.address)") }
            return try self.admit(
                OpenSession.Parts(
                    name: name, cassetteName: order.cassette, label: order.label, owner: order.owner, settings: settings, notices: notices,
                    cassette: cassette, rules: rules, desk: desk, page: page),
                wantsPort: order.wantsPort, notice: tell)
        } catch {
            page?.stop()
            // Report the first error: it explains why there is no session.
            try? cassette.abandon()
            throw error
        }
    }

    /// The order's own rules have already been checked, so invalid rules at this point come from the head of the cassette.
    private static func plan(_ path: String, _ order: SessionOrder, _ options: RunPlan.Options) throws -> RunPlan {
        do {
            return try RunPlan(path, mode: order.mode, options: options)
        } catch let error as MatchRuleError {
            throw CassetteError(.unreadable, "\"\(path)\": the cassette's \"match\": \(error.message).")
        }
    }

    private func admit(
        _ parts: OpenSession.Parts, wantsPort: Bool, notice: @escaping @Sendable (String) -> Void
    ) throws -> OpenSession {
        var configuration = self.settings
        configuration.cassetteName = parts.cassetteName
        configuration.settings = parts.settings
        configuration.latency = parts.settings.value(Settings.latency)
        configuration.originErrors = parts.settings.value(Settings.originErrors)
        configuration.refresh = parts.cassette.plan.refresh
        configuration.rules = parts.rules
        configuration.pauseDesk = parts.page?.pausesMessages == true ? parts.desk : nil
        configuration.judgesClient = parts.settings.value(Settings.verdict) != nil
        configuration.watch = parts.page?.watch
        if let port = parts.page?.port, let loopback = IPAddress("127.0.0.1") {
            self.loops.shared.ownPorts.add(LoopRule(listeningOn: loopback, port: port, interfaces: []))
        }
        let common = SharedSession(
            configuration: configuration, session: parts.cassette.session, recorder: parts.cassette.recorder,
            cassette: parts.cassette.cassette,
            cacheLimits: .ofMany, log: self.loops.shared.log.naming(parts.name), notice: notice)
        let sessionLoops = self.sessionLoops
        let contexts = try common.makeContexts(through: self.loops.loopGates) { sessionLoops.value(on: $0).makeContext(common) }
        var listener: (any Channel)?
        do {
            if wantsPort { listener = try self.bind(contexts) }
        } catch {
            try? common.stop(contexts).wait()
            throw error
        }
        let token = Secret.random()
        // Add it on every loop before anyone learns the token.
        _ = try sessionLoops.map { $0.directory.add(contexts.value(on: $0.shared.loop), name: parts.name, token: token) }
        let limits = parts.settings.value(Settings.verdict) ?? ClientVerdict.Limits()
        parts.page?.follow(
            SessionProgress(
                counts: { common.totalCounts }, elapsed: { common.rules?.elapsed(at: .now()) ?? .zero },
                verdict: { common.rules?.verdict(exitCode: nil, limits: limits) }, match: { try common.match(by: $0) }))
        let open = OpenSession(parts, token: token, common: common, contexts: contexts, listener: listener)
        self.loops.shared.log.sessionOpened(open.name, cassette: parts.cassetteName, mode: parts.cassette.session.mode, port: open.port)
        return open
    }

    /// Opens the session's own port, which admits everyone who can reach it.
    private func bind(_ contexts: PerLoop<ProxyContext>) throws -> any Channel {
        try ProxyListener.bind(
            host: self.configuration.host, port: 0, interfaces: self.interfaces, on: self.loops, session: contexts,
            sessionGate: try PerLoop(through: self.loops.loopGates) { _, _ in .open }
        ).wait()
    }
}
