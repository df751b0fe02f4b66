/// Places in requests and answers, taken from the public documentation of APIs and labelled: `«…»` is a secret, `‹…›` is not.
///
/// A line has the kind of the text, the API, and the text, separated by tabs; `\n` in the text is a line end.
enum LabelledPlaces {
    static let lines = #"""
        json	Stripe, tokens	{"id":"‹tok_1N3T00LkdIwHu7ixt44h1F8k›","object":"‹token›","type":"‹card›","used":false,"client_ip":"‹52.35.78.6›"}
        json	Stripe, payment intents	{"id":"‹pi_3MtwBwLkdIwHu7ix28a3tqPa›","client_secret":"«pi_3MtwBwLkdIwHu7ix28a3tqPa_secret_YrKJUKribcBjcG8HVhfZluoGH»","currency":"‹usd›","status":"‹requires_payment_method›"}
        header	Stripe, authentication	Authorization: Bearer «sk_test_4eC39HqLyjWDarjtT1zdp7dc»
        header	Stripe, idempotency	Idempotency-Key: ‹KG5LxwFBepaKHyUD›
        json	Stripe, webhooks	{"id":"‹we_1Mr5jULkdIwHu7ix1ibLTM0x›","secret":"«whsec_wRNftLajMZNeslQOP6vEPm4iVx5NlZ6z»","url":"‹https://example.com/my/webhook/endpoint›"}
        json	GitHub, installation tokens	{"token":"«ghs_16C7e42F292c6912E7710c838347Ae178B4a»","expires_at":"‹2016-07-11T22:14:10Z›","permissions":{"issues":"‹write›","contents":"‹read›"},"repository_selection":"‹selected›"}
        json	GitHub, OAuth	{"access_token":"«gho_16C7e42F292c6912E7710c838347Ae178B4a»","scope":"‹repo,gist›","token_type":"‹bearer›"}
        form	GitHub, OAuth	access_token=«gho_16C7e42F292c6912E7710c838347Ae178B4a»&scope=‹repo›&token_type=‹bearer›
        json	GitHub, actions secrets	{"total_count":2,"secrets":[{"name":"‹GH_TOKEN›","created_at":"‹2019-08-10T14:59:22Z›","updated_at":"‹2020-01-10T14:59:22Z›"}]}
        json	GitHub, public key	{"key_id":"‹012345678912345678›","key":"‹2Sg8iYjAxxmI2LvUXpJjkYrMxURPc8r+dB7TJyvv1234›"}
        json	GitHub, commits	{"sha":"‹6dcb09b5b57875f334f61aebed695e2e4193db5e›","node_id":"‹MDY6Q29tbWl0NmRjYjA5YjViNTc4NzVmMzM0ZjYxYWViZWQ2OTVlMmU0MTkzZGI1ZQ==›"}
        json	GitHub, licenses	{"key":"‹mit›","name":"‹MIT License›","spdx_id":"‹MIT›"}
        json	GitHub, registration token	{"token":"«LLBF3JGZDX3P5PMEXLND6TS6FCWO6»","expires_at":"‹2020-01-22T12:13:35.123-08:00›"}
        json	GitHub, webhooks	{"config":{"url":"‹https://example.com/webhook›","content_type":"‹json›","insecure_ssl":"‹0›","secret":"«8f2b1d0c4e5a6978»"}}
        json	GitLab, personal access tokens	{"id":42,"name":"‹Test Token›","revoked":false,"scopes":["‹api›"],"token":"«glpat-aTkVNf8LkdYtBqZs3wRx»","last_used_at":null}
        url	GitLab, query	https://gitlab.example.com/api/v4/projects?private_token=«glpat-aTkVNf8LkdYtBqZs3wRx»&per_page=‹20›&sort=‹desc›
        header	GitLab, authentication	PRIVATE-TOKEN: «glpat-aTkVNf8LkdYtBqZs3wRx»
        json	GitLab, CI variables	{"key":"‹NEW_VARIABLE›","value":"‹new value›","protected":false,"environment_scope":"‹*›"}
        json	Slack, oauth.v2.access	{"ok":true,"access_token":"«xoxb-17653672481-19874698323-pdFZKVeTuE8sk7oOcBrzbqgy»","token_type":"‹bot›","scope":"‹commands,incoming-webhook›","bot_user_id":"‹U0KRQLJ9H›","app_id":"‹A0KRD7HC3›"}
        json	Slack, webhooks	{"incoming_webhook":{"channel":"‹#channel-it-will-post-to›","url":"https://hooks.slack.com/services/«T1H9RESGL/BDPQ8B4E8/2bT3mYqY6Gk5X0r0FvH7aVbS»"}}
        json	Slack, pagination	{"response_metadata":{"next_cursor":"‹dXNlcjpVMEc5V0ZYTlo=›"},"cache_ts":1498777272}
        form	Slack, slash commands	token=«gIkuvaNzQIHg97ATvDxqgjtO»&team_id=‹T0001›&team_domain=‹example›&command=‹%2Fweather›&text=‹94070›
        json	Twilio, keys	{"sid":"‹SKXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX›","friendly_name":"‹foo›","secret":"«L8xH2kQ0vYt5RmZbW3nAc9eJfD7sGp1u»"}
        json	Twilio, accounts	{"auth_token":"«7f1b2c3d4e5f60718293a4b5c6d7e8f9»","friendly_name":"‹friendly_name›","status":"‹active›","type":"‹Full›"}
        header	Twilio, signature	X-Twilio-Signature: «RSOYDt4T1cUTdK1PDd93/VVr8B8=»
        json	Twilio, Verify	{"status":"‹pending›","channel":"‹sms›","to":"‹+15017122661›","valid":false}
        header	SendGrid, authentication	Authorization: Bearer «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»
        json	SendGrid, keys	{"api_key":"«SG.xxxxxxxx1yyyyyyyy.2zzzzzzzz3aaaaaaaaa»","api_key_id":"‹xxxxxxxx›","name":"‹My API Key›","scopes":["‹mail.send›"]}
        json	Mailgun, webhooks	{"signature":{"timestamp":"‹1529006854›","token":"«a8ce0edb2dd8301dee6c2405235584e45aa91d1e9f979f3de0»","signature":"«d2271d12299f6592d9d44cd9d250f0704e4674c30d79d07c47a66f95ce71cf55»"}}
        json	AWS STS, credentials	{"Credentials":{"AccessKeyId":"«ASIAIOSFODNN7EXAMPLE»","SecretAccessKey":"«wJalrXUtnFEMI/K7MDENG/bPxRfiCYzEXAMPLEKEY»","SessionToken":"«AQoDYXdzEJr1K5sxrqM2T0zJQ7vLkP8b»","Expiration":"‹2019-07-15T23:28:33.359Z›"}}
        xml	AWS STS, query API	<AssumeRoleResult><Credentials><SessionToken>«AQoDYXdzEPT4aEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwthAx7mSEIQigW7VCdrPQ==»</SessionToken><SecretAccessKey>«wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY»</SecretAccessKey><AccessKeyId>«ASIAIOSFODNN7EXAMPLE»</AccessKeyId><Expiration>‹2011-07-15T23:28:33.359Z›</Expiration></Credentials></AssumeRoleResult>
        header	AWS, signature 4	Authorization: AWS4-HMAC-SHA256 Credential=«AKIAIOSFODNN7EXAMPLE»/‹20130524/us-east-1/s3/aws4_request›, SignedHeaders=‹host;range;x-amz-date›, Signature=«f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41»
        url	AWS S3, presigned	https://examplebucket.s3.amazonaws.com/test.txt?X-Amz-Algorithm=‹AWS4-HMAC-SHA256›&X-Amz-Credential=«AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request»&X-Amz-Date=‹20130524T000000Z›&X-Amz-Expires=‹86400›&X-Amz-SignedHeaders=‹host›&X-Amz-Signature=«aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404»
        json	AWS S3, post policy	{"url":"‹https://bucket.s3.amazonaws.com/›","fields":{"key":"‹uploads/2024/11/report-v2-final.pdf›","acl":"‹public-read›","x-amz-signature":"«8afdbf4008c03f22c2cd3cdb72e4afbb1f6a588f3255ac628749a66d7f09699e»"}}
        json	AWS Secrets Manager	{"ARN":"‹arn:aws:secretsmanager:us-west-2:123456789012:secret:MyTestDatabaseSecret-a1b2c3›","Name":"‹MyTestDatabaseSecret›","SecretString":"{\"user\":\"‹diegor›\",\"password\":\"«EXAMPLE-PASSWORD-7»\"}","VersionId":"‹a1b2c3d4-5678-90ab-cdef-EXAMPLE11111›"}
        json	AWS S3, event	{"s3":{"bucket":{"name":"‹mybucket›"},"object":{"key":"‹HappyFace-2024-01-02-03-04-05.jpg›","size":1024,"eTag":"‹d41d8cd98f00b204e9800998ecf8427e›","sequencer":"‹0055AED6DCD90281E5›"}}}
        xml	AWS S3, list	<ListBucketResult><NextContinuationToken>‹1ueGcxLPRx1Tr/XYExHnhbYLgveDs2J/wm36Hy4vbOwM=›</NextContinuationToken><Contents><Key>‹my-image-2009-10-12.jpg›</Key><ETag>‹fba9dede5f27731c9771645a39863328›</ETag></Contents></ListBucketResult>
        json	AWS DynamoDB	{"Key":{"ForumName":{"S":"‹Amazon DynamoDB›"}},"TableName":"‹Thread›","LastEvaluatedKey":{"Id":{"N":"‹101›"}}}
        json	AWS Cognito	{"AuthParameters":{"USERNAME":"‹testuser›","PASSWORD":"«P4ssw0rd-example!»"},"AuthFlow":"‹USER_PASSWORD_AUTH›","ClientId":"‹1example23456789›"}
        json	AWS Cognito, result	{"AuthenticationResult":{"ExpiresIn":3600,"RefreshToken":"«eyJjd2-refresh-0123456789abcdef»","TokenType":"‹Bearer›"},"ChallengeParameters":{}}
        json	AWS Lambda, list	{"NextMarker":"‹AXNlY3VyZS1tYXJrZXI5›","Functions":[{"FunctionName":"‹helloWorld›","CodeSha256":"‹5tT2qgzYUHoqwR616pZ2dpkn/0J1FrzJmlKidWaaCgk=›"}]}
        json	Google OAuth, token	{"access_token":"«ya29.1fFAGRNJru1FTz70BzhT3ZgTrP0AaBcDeF»","expires_in":3920,"token_type":"‹Bearer›","scope":"‹https://www.googleapis.com/auth/drive.metadata.readonly›","refresh_token":"«1//0xEoDL4iW3cxlI7yDbSRFYNG01kVKM2C-259HOF2aQbI»"}
        form	Google OAuth, exchange	code=«4/P7q7W91a-oMsCeLvIaQm6bTrgtp7»&client_id=‹your_client_id›&client_secret=«GOCSPX-aBcDeFgHiJkLmNoPqRsT»&redirect_uri=‹https%3A//oauth2.example.com/code›&grant_type=‹authorization_code›
        json	Google, service account	{"type":"‹service_account›","project_id":"‹my-project›","private_key_id":"‹3f1e2d4c5b6a79880716253443526170f8e9daeb›","private_key":"-----BEGIN PRIVATE KEY-----\n«MIIEvQIBADANBgkqhkiG9w0BAQEFAASC»\n-----END PRIVATE KEY-----\n","token_uri":"‹https://oauth2.googleapis.com/token›"}
        url	Google Maps	https://maps.googleapis.com/maps/api/geocode/json?address=‹Mountain+View›&key=«AIzaSyDaGmWKa4JsXZ-HjGw7ISLn_3namBGewQe»
        json	Google, list	{"kind":"‹drive#fileList›","nextPageToken":"‹~!!~AI9FV7R2example0123456789›","incompleteSearch":false}
        json	Google Calendar, sync	{"nextSyncToken":"‹CPDAlvWDx70CEPDAlvWDx70CGAU=›","etag":"‹p32ofpl1ktb2cc0g›","timeZone":"‹Europe/Berlin›"}
        json	Firebase Auth	{"idToken":"«eyJhbGciOiJSUzI1NiIsImtpZCI6IjEifQ.eyJzdWIiOiI3In0.c2lnbmF0dXJl»","email":"‹user@example.com›","refreshToken":"«AOkPPWQx0123456789abcdefABCDEF»","expiresIn":"‹3600›","localId":"‹tRcfmLH7o2XrNELi›"}
        form	Microsoft identity	client_id=‹535fb089-9ff3-47b6-9bfb-4f1264799865›&scope=‹https%3A%2F%2Fgraph.microsoft.com%2F.default›&client_secret=«qWgdYAmab0YSkuL1qKv5bPX8Q~sampleCredentia1s»&grant_type=‹client_credentials›
        json	Microsoft identity, device code	{"user_code":"‹GTHK-QPMN›","device_code":"«GMMhmHCXhWEzkobqIHGG_EnNYYsAkukHspeYUk9E8»","grant_type":"‹device_code›","verification_uri":"‹https://microsoft.com/devicelogin›","expires_in":900,"interval":5}
        json	Microsoft Graph, delta	{"@odata.deltaLink":"‹https://graph.microsoft.com/v1.0/users/delta›","value":[{"id":"‹87d349ed-44d7-43e1-9a83-5f2406dee5bd›","displayName":"‹Adele Vance›"}]}
        json	Azure Storage, keys	{"keys":[{"keyName":"‹key1›","permissions":"‹Full›"},{"keyName":"‹key2›","permissions":"‹Full›"}]}
        text	Azure Storage, connection string	DefaultEndpointsProtocol=‹https›;AccountName=‹myaccount›;AccountKey=«Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==»;EndpointSuffix=‹core.windows.net›
        url	Azure, shared access signature	https://myaccount.blob.core.windows.net/pics/1.png?sv=‹2023-11-03›&st=‹2024-01-01T00%3A00%3A00Z›&sr=‹b›&sp=‹rw›&sig=«Z%2FRHIX5Xcg0Mq2rqI3OlWTjEg2tYkboXr1P9ZUXDtkk%3D»
        header	Azure, subscription key	Ocp-Apim-Subscription-Key: «3f9a1c7e5b2d4860a1b2c3d4e5f60718»
        json	OpenAI, usage	{"id":"‹chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT›","usage":{"prompt_tokens":19,"completion_tokens":10,"total_tokens":29},"finish_reason":"‹stop›","system_fingerprint":"‹fp_44709d6fcb›"}
        json	OpenAI, log probabilities	{"content":[{"token":"‹Hello›","logprob":-0.31725305,"bytes":[72,101]},{"token":"‹!›","logprob":-0.02380986},{"token":"‹ How›","logprob":-0.0001}]}
        json	OpenAI, tokenized input	{"tokens":[‹15496›,‹995›,‹50256›],"token":‹50256›,"token_count":3}
        header	OpenAI, authentication	Authorization: Bearer «sk-proj-abcdefGHIJKL0123456789mnopqr»
        json	OpenAI, realtime	{"client_secret":{"value":"«ek_abc123def456ghi789»","expires_at":1234567890},"modality":"‹text›"}
        header	Anthropic, authentication	x-api-key: «sk-ant-api03-R2D2c3poBB8luke0leia1han2chew3»
        json	Anthropic, usage	{"stop_reason":"‹end_turn›","usage":{"input_tokens":2095,"output_tokens":503},"role":"‹assistant›"}
        json	Hugging Face, tokenizer	{"bos_token":"‹<s>›","eos_token":"‹</s>›","unk_token":"‹<unk>›","added_tokens":[{"id":0,"content":"‹<pad>›"}]}
        json	Ollama	{"model":"‹llama3.2›","context":[1,2,3],"eval_count":290,"prompt_eval_count":26,"done":true}
        json	Shopify, access token	{"access_token":"«shpat_0123456789abcdef0123456789abcdef»","scope":"‹write_orders,read_customers›"}
        json	Shopify, cart	{"token":"‹cart›","note":"‹thanks›","item_count":2,"currency":"‹CAD›","attributes":{"key":"‹value›"}}
        header	Shopify, webhooks	X-Shopify-Hmac-Sha256: «XWmrwMey6OsLMeiZKwP4FppHH3cmAiiJJAweH5Jo4bM=»
        json	PayPal, token	{"scope":"‹https://uri.paypal.com/services/invoicing›","access_token":"«A21AAFEpH4PsADK7qSS7pSRsgzfENtu-Q1ysgEDVDESseMHBYXVJYE8ovjj68elIDy8nF26AwPhfXTIeWAZHSLIsQkSYz9ifg»","token_type":"‹Bearer›","app_id":"‹APP-80W284485P519543T›","nonce":"‹2020-04-03T15:35:36ZaYZlGvEkV4yVSz8g6bAKFoGSEzuy3CQcz3ljhibkOHg›"}
        json	Square	{"access_token":"«EAAAEOg0wJr5b1Hq6nTkXvZ8yU3cLmPf»","token_type":"‹bearer›","expires_at":"‹2019-08-14T18:10:45Z›","merchant_id":"‹MLQFFX8N3VJ5H›"}
        json	Plaid, link token	{"link_token":"‹link-sandbox-af1a0311-da53-4636-b754-dd15cc058176›","expiration":"‹2020-03-27T12:56:34Z›","request_id":"‹XQVgFigpGHXkb0b›"}
        json	Plaid, exchange	{"client_id":"‹61b49057ae1cbe001ad49f25›","secret":"«2f6d8c1b0a9e4735d2c1b0a9e8f7d6»"}
        json	Plaid, access	{"access_token":"«access-sandbox-de3ce8ef-33f8-452c-a685-8671031fc0f6»","item_id":"‹M5eVJqLnv3tbzdngLDp9FL5OlDNxlNhlE55op›"}
        json	Dropbox, token	{"access_token":"«sl.AbX9y6Fe3AuH5o66-gmJpR032jwAwQPIVVzWXZNkdzcYT02akC2de219dZi6gxYPVnYPrpvISRSf9lxKWJzYLjtMPH-d9fo_0gXex7X37VIvpty4-G8f4-WX45Ar»","account_id":"‹dbid:AAH4f99T0taONIb-OurWxbNQ6ywGRopQngc›","token_type":"‹bearer›"}
        json	Dropbox, list folder	{"cursor":"‹ZtkX9_EHj3x7PMkVuFIhwKYXEpwpLwyxp9vMKomUhllil9q7eWiAu›","has_more":false}
        json	Discord, gateway	{"op":2,"d":{"token":"«MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs»","intents":513,"properties":{"os":"‹linux›"}}}
        header	Discord, authentication	Authorization: Bot «MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs»
        json	Discord, errors	{"code":50035,"message":"‹Invalid Form Body›","errors":{"access_token":{"_errors":[{"code":"‹BASE_TYPE_REQUIRED›"}]}}}
        json	Zoom, access token	{"access_token":"«eyJhbGciOiJIUzUxMiJ9.eyJhdWQiOiJ6In0.0123456789abc»","token_type":"‹bearer›","expires_in":3599,"scope":"‹meeting:read›"}
        json	Zoom, meetings	{"id":85746065,"topic":"‹My Meeting›","password":"«x8Pq2L»","h323_password":"«123456»","status":"‹waiting›"}
        json	Auth0, token	{"access_token":"«eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJodHRwcyJ9.AbCdEf0123456789»","refresh_token":"«v1.MZ2bJGxyaTk0hTwoYzV»","id_token":"«eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhdXRoMCJ9.GhIjKl0123456789»","token_type":"‹Bearer›"}
        json	Auth0, login	{"client_id":"‹YOUR_CLIENT_ID›","connection":"‹Username-Password-Authentication›","email":"‹user@example.com›","password":"«test-P4ssword»"}
        json	Okta, sessions	{"expiresAt":"‹2018-07-03T00:00:00Z›","status":"‹SUCCESS›","sessionToken":"«00Fpzf4en68pCXTsMjcX8JPMctzN2Wiw4LDOBL_9pe»"}
        header	Okta, authentication	Authorization: SSWS «00QCjAl4MlV-WPXM-ABCDEFGHIJKL-0HmjFx-vnGua»
        json	Keycloak, clients	{"clientId":"‹account›","secret":"«QvLh0ZL3mXyGWSpxOtDfvAqVpHJtN7Yq4»","clientAuthenticatorType":"‹client-secret›","publicClient":false}
        json	Vault, token	{"auth":{"client_token":"«hvs.CAESIJ8rGmOtT0xNqS5AaBbCcDdEe»","accessor":"‹B6oixijqmeR4bsLOJH88Ska9›","policies":["‹default›"],"lease_duration":2764800}}
        json	Vault, KV	{"data":{"data":{"password":"«Hashi123»"},"metadata":{"created_time":"‹2018-03-22T02:24:06.945319214Z›","version":2}}}
        header	Vault, authentication	X-Vault-Token: «hvs.CAESIJ8rGmOtT0xNqS5AaBbCcDdEe»
        json	Consul, KV	{"Key":"‹zip›","Flags":0,"Value":"‹dGVzdA==›","Session":"‹adf4238a-882b-9ddc-4a9d-5b6758e4159e›"}
        header	Consul, authentication	X-Consul-Token: «5cdcae6c-0cce-4210-86fe-5dff3b984a6e»
        json	Kubernetes, token request	{"kind":"‹TokenRequest›","status":{"token":"«eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJrdWJlcm5ldGVzIn0.sIgNaTuRe01»","expirationTimestamp":"‹2024-01-01T00:00:00Z›"}}
        json	Kubernetes, config maps	{"data":{"key":"‹value›","game.properties":"‹lives=3›"},"metadata":{"name":"‹game-config›","uid":"‹b4952dc3-d670-11e5-8cd0-68f728db1985›"}}
        json	Kubernetes, list	{"kind":"‹PodList›","metadata":{"resourceVersion":"‹10245›","continue":"‹ENCODED_CONTINUE_TOKEN›","remainingItemCount":753}}
        yaml	Kubernetes, secret reference	env:\n- name: ‹DB_PASSWORD›\n  valueFrom:\n    secretKeyRef:\n      name: ‹mysecret›\n      key: ‹password›\n
        yaml	Docker Compose	services:\n  db:\n    environment:\n      MYSQL_ROOT_PASSWORD: «r00t-pa55»\n      MYSQL_USER: ‹ada›\n
        json	Docker registry, token	{"token":"«eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJhdXRoIn0.QhflHPfbd6eVF4lM9bwYpFZIV0»","expires_in":3600,"issued_at":"‹2009-11-10T23:00:00Z›"}
        json	Docker, manifests	{"schemaVersion":2,"config":{"digest":"‹sha256:b5b2b2c507a0944348e0303114d8d93aaaa081732b86451d9bce1f432a537bc7›","size":7023}}
        json	Docker, config	{"auths":{"https://index.docker.io/v1/":{"auth":"«YWRhOnB3MTIzNDU2Nzg5»"}}}
        json	npm, tokens	{"token":"«npm_abcdefghijklmnopqrstuvwxyz0123456789»","key":"‹readonly›","readonly":false,"created":"‹2020-01-01T00:00:00.000Z›"}
        json	npm, packages	{"_id":"‹lodash@4.17.21›","dist":{"shasum":"‹679591c564c3bffaae8454cf0b3df370c3d6911c›","integrity":"‹sha512-v2kDEe57lecTulaDIuNTPy3Ry4gLGJ6Z1O3vE1krgXZNrsQ+LFTGHVxVjcXPs17LhbZVGedAJv8XZ1tvj5FvSg==›"}}
        text	npm, npmrc	registry=‹https://registry.npmjs.org/›\n//registry.npmjs.org/:_authToken=«npm_abcdefghijklmnopqrstuvwxyz0123456789»\n
        json	Heroku, authorizations	{"access_token":{"expires_in":2592000,"id":"‹01234567-89ab-cdef-0123-456789abcdef›","token":"«HRKU-01234567-89ab-cdef-0123-456789abcdef»"},"description":"‹sample authorization›"}
        json	DigitalOcean, databases	{"connection":{"uri":"postgres://‹doadmin›:«wv78n3zpz42xezdk»@backend-do-user-19081923-0.db.ondigitalocean.com:25060/defaultdb","database":"‹defaultdb›","user":"‹doadmin›","password":"«wv78n3zpz42xezdk»","ssl":true}}
        json	Cloudflare, tokens	{"result":{"id":"‹ed17574386854bf78a67040be0a770b0›","name":"‹readonly token›","status":"‹active›"}}
        header	Cloudflare, key	X-Auth-Key: «1234567893feefc5f0q5000bfo0c38d90bbeb»
        header	Cloudflare, ray	CF-Ray: ‹230b030023ae2822-SJC›
        header	Fastly	Fastly-Key: «k3yZq0xW1vB2nM3cL4pO5iU6yT7rE8w9»
        header	Datadog	DD-API-KEY: «9775a026f1ca7d1c6c5af9d94d9595a4»
        json	Datadog, metrics	{"series":[{"metric":"‹system.load.1›","points":[[1636629071,0.7]],"tags":["‹environment:test›"]}]}
        json	Sentry, keys	{"id":"‹60120449b6b1d5e45f75561e6dabd80b›","name":"‹Liked Pegasus›","public":"‹60120449b6b1d5e45f75561e6dabd80b›","secret":"«189485c3b8ccf582bf5e12c530ef8858»"}
        json	PagerDuty	{"event_action":"‹trigger›","dedup_key":"‹srv01/HTTP›"}
        header	Algolia	X-Algolia-API-Key: «6be0576ff61c053d5f9a3225e2a90f76»
        json	Algolia, keys	{"key":"«1eb37de6308abdccf9b760ddacb418b4»","createdAt":"‹2023-07-04T12:49:15Z›","acl":["‹search›"]}
        json	Elasticsearch, API key	{"id":"‹VuaCfGcBCdbkQm-e5aOx›","name":"‹my-api-key›","expiration":1544068612110,"api_key":"«ui2lp2axTNmsyakw9tvNnw»","encoded":"«VnVhQ2ZHY0JDZGJrUW0tZTVhT3g6dWkybHAyYXhUTm1zeWFrdzl0dk5udw==»"}
        json	Elasticsearch, analyze	{"tokens":[{"token":"‹quick›","start_offset":0,"end_offset":5,"type":"‹<ALPHANUM>›","position":0},{"token":"‹brown2›","start_offset":6,"end_offset":12,"type":"‹word›","position":1}]}
        json	Elasticsearch, aggregations	{"buckets":[{"key":"‹electronic›","doc_count":6},{"key":"‹2015/01/01 00:00:00›","doc_count":3},{"key":"‹user-agent-chrome-119›","doc_count":1}]}
        json	MongoDB Atlas	{"desc":"‹example›","id":"‹5d1d143c87d9d63e6d694746›","privateKey":"«55c3bbb6-b4bb-0be1-e66d20841f3e»","publicKey":"‹zmmrboas›"}
        json	Supabase	{"access_token":"«eyJhbGciOiJIUzI1NiJ9.eyJhdWQiOiJhIn0.abcdefghijk01»","token_type":"‹bearer›","refresh_token":"«4nYUCw0wZR_DNOTSDbSGMQ»","user":{"role":"‹authenticated›"}}
        json	Spotify	{"access_token":"«NgCXRKc3MzYjw8bQ0xZ1yP5vLkT4uWr»","token_type":"‹bearer›","expires_in":3600}
        json	Spotify, tracks	{"id":"‹11dFghVXANMlKmJXsNCbNl›","key":9,"mode":0,"uri":"‹spotify:track:11dFghVXANMlKmJXsNCbNl›"}
        form	Twitter, request token	oauth_token=«NPcudxy0yU5T3tBzho7iCotZ3cnetKwcTIRlX0iwRl0»&oauth_token_secret=«veNRnAWe6inFuo8o2u8SLLZLjolYDmDP7SzL0YfYI»&oauth_callback_confirmed=‹true›
        header	Twitter, OAuth 1	Authorization: OAuth oauth_consumer_key="«xvz1evFS4wEEPTGEFPHBog»", oauth_nonce="‹kYjzVBB8Y0ZFabxSWbWovY3uYSQ2pTgmZeNu2VS4cg›", oauth_signature="«tnnArxj06cWHq44gCs1OSKk%2FjLY%3D»", oauth_signature_method="‹HMAC-SHA1›", oauth_timestamp="‹1318622958›", oauth_token="«370773112-GmHxMAgYyLbNEtIKZeRNFsMKPR9EyMZeS9weJAEb»", oauth_version="‹1.0›"
        json	Twitter, search	{"meta":{"newest_id":"‹1373001119480344583›","next_token":"‹b26v89c19zqg8o3fosdk7kmjw9tp›","result_count":10}}
        url	Facebook Graph	https://graph.facebook.com/v19.0/me?fields=‹id,name›&access_token=«EAACEdEose0cBAKx7Zb0123456789abcdefGHIJ»
        json	Facebook, paging	{"paging":{"cursors":{"after":"‹MTAxNTExOTQ1MjAwNzI5NDE=›","before":"‹NDMyNzQyODI3OTQw›"}}}
        json	LinkedIn	{"access_token":"«AQUvlL_DYEzvT2wz1QJiEPeLioeA»","expires_in":5184000,"scope":"‹r_basicprofile›"}
        json	Reddit	{"access_token":"«eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ1In0.reddit0123456»","token_type":"‹bearer›","scope":"‹*›"}
        json	Salesforce	{"access_token":"«00Dx0000000BV7z!AR8AQAxo9UfVkh8AlV0Gomt9Czx9LjHnSSpwBMmbRcgKFmxOtvxjTrKW19ye6PE3Ds1eQz3z8jr3W7_VbWmEu4Q8TVGSTHxs»","instance_url":"‹https://mycompany.my.salesforce.com›","signature":"«0/1NuRx6lJFGT3bZ1lDsjTy3vA8vKq+=1»","token_type":"‹Bearer›"}
        xml	Salesforce, SOAP login	<urn:login><urn:username>‹user@example.com›</urn:username><urn:password>«Pa55w0rdXyZ»</urn:password></urn:login>
        json	HubSpot	{"token":"«CJSP5qf1KhICAQEYs-gDIIGOBii1hQIyGQAf3xBKmlwHjX7OIpuIFEavB2-qYAGQsF4»","user":"‹test@hubspot.com›","hub_id":62515}
        json	Zendesk	{"token":{"id":223443,"token":"«af3345kdj3»","scopes":["‹read›"]}}
        json	Jira	{"accountId":"‹5b10ac8d82e05b22cc7d4ef5›","key":"‹PROJ-123›","self":"‹https://your-domain.atlassian.net/rest/api/3/issue/10002›"}
        json	Jira, session	{"session":{"name":"‹JSESSIONID›","value":"«6E3487971234567896704A9EB4AE501F»"},"loginInfo":{"loginCount":127}}
        url	Trello	https://api.trello.com/1/members/me/boards?key=«0471642aefef5fa1fa76530ce1ba4c85»&token=«9eb76d9a9d02b8dd40c2f3e5df18556c831d4d1fadbe2c45f8310e6c93b5c548»&fields=‹name,url›
        json	Notion	{"object":"‹list›","next_cursor":"‹fe2cc560-036c-44cd-90e8-294d5a74cebc›","has_more":false,"type":"‹block›"}
        header	Notion	Authorization: Bearer «ntn_b1234567890abcdefGHIJKLMNOPQRSTUVWXYZ»
        json	Airtable	{"records":[{"id":"‹rec560UJdUtocSouk›"}],"offset":"‹itr23sEjsdfEr3282/recSW8fKVPFFG4BH1›"}
        url	Mapbox	https://api.mapbox.com/geocoding/v5/mapbox.places/x.json?access_token=«pk.eyJ1IjoiZXhhbXBsZSIsImEiOiJjbGV4YW1wbGUifQ.AbCdEfGh0123»&limit=‹5›
        url	OpenWeather	https://api.openweathermap.org/data/2.5/weather?lat=‹44.34›&lon=‹10.99›&units=‹metric›
        url	NASA	https://api.nasa.gov/planetary/apod?api_key=«NNKOjkoul8n1CH18TWA9gwngW1s1SmjESPjNoUFo»&date=‹2024-01-01›
        json	Etherscan	{"tokenName":"‹USD Coin›","tokenSymbol":"‹USDC›","tokenDecimal":"‹6›","contractAddress":"‹0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48›","token":"‹USDC›"}
        json	CoinGecko	{"id":"‹bitcoin›","symbol":"‹btc›","token":"‹WBTC›","price":67187.33}
        header	Binance	X-MBX-APIKEY: «vmPUZE6mv9SD5VNHk4HlWFsOr6aKE2zvsw0MuIgwCIPy6utIco14y7Ju91duEh8A»
        url	Binance, signed	https://api.binance.com/api/v3/order?symbol=‹LTCBTC›&recvWindow=‹5000›&timestamp=‹1499827319559›&signature=«c8db56825ae71d6d79447849e617115f4a920fa2acdcab2b053c4b2838bd6b71»
        json	JSON-RPC, Ethereum	{"jsonrpc":"‹2.0›","method":"‹eth_call›","params":[{"to":"‹0xd46e8dd67c5d32be8058bb8eb970870f07244567›"},"‹latest›"],"id":1}
        json	Matrix, login	{"user_id":"‹@cheeky_monkey:matrix.org›","access_token":"«syt_YWxpY2U_abc123_def456»","device_id":"‹GHTYAJCE›","home_server":"‹matrix.org›"}
        json	Matrix, sync	{"next_batch":"‹s72595_4483_1934›","rooms":{"join":{}}}
        json	Mastodon	{"client_id":"‹TWhM-tNSuncnqN7DBJmoyeLnk6K3iJJ71KKXxgL1hPM›","client_secret":"«ZEaFUFmF0umgBX1qKJDjaU99Q31lDkOU8NutzTOoliw»","vapid_key":"‹BCk-QqERU0q-CfYZjcuB6lnyyOYfJ2AifKqfeGIm7Z-HiTU5T9eTG5GxVA0_OH5mMlI4UkkDTpaZwozy0TzdZ2M=›"}
        form	OAuth 2, password grant	grant_type=‹password›&username=‹johndoe›&password=«A3ddj3w»
        form	OAuth 2, refresh	grant_type=‹refresh_token›&refresh_token=«tGzv3JOkF0XG5Qx2TlKWIA»&scope=‹read›
        url	OAuth 2, callback	https://client.example.com/cb?code=«SplxlOBeZQQYbYS6WxSbIA»&state=‹xyz›
        json	OAuth 2, error	{"error":"‹invalid_request›","error_description":"‹The access token expired›","error_uri":"‹https://example.com/errors#12›"}
        json	OAuth 2, pending	{"error":"‹authorization_pending›","authorization":"‹pending›","interval":5}
        json	OpenID Connect, discovery	{"issuer":"‹https://server.example.com›","token_endpoint":"‹https://server.example.com/connect/token›","jwks_uri":"‹https://server.example.com/jwks.json›","token_endpoint_auth_methods_supported":["‹client_secret_basic›"]}
        json	JSON Web Keys	{"keys":[{"kty":"‹RSA›","kid":"‹1b94c›","use":"‹sig›","alg":"‹RS256›","e":"‹AQAB›"}]}
        header	RFC 7617	Authorization: Basic «QWxhZGRpbjpvcGVuIHNlc2FtZQ==»
        header	RFC 7616	Authorization: Digest username="‹Mufasa›", realm="‹http-auth@example.org›", uri="‹/dir/index.html›", algorithm=‹MD5›, nonce="‹7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v›", nc=‹00000001›, response="«8ca523f5e9506fed4657c9700eebdbec»"
        setcookie	RFC 6265	Set-Cookie: SID=«31d4d96e407aad42»; Path=‹/›; Secure; HttpOnly
        setcookie	RFC 6265, preferences	Set-Cookie: lang=‹en-US›; Path=‹/›; Domain=‹example.com›
        setcookie	WordPress	Set-Cookie: wordpress_logged_in_5c016e8f0f95f039102cbe8366c5c7f3=«ada%7C1690000000%7CkV9x1»; path=‹/›; HttpOnly
        setcookie	Laravel	Set-Cookie: XSRF-TOKEN=«eyJpdiI6IkZ1N1Q0dz09IiwidmFsdWUiOiJwVzIifQ%3D%3D»; expires=‹Wed, 01-Jan-2025 00:00:00 GMT›; path=‹/›
        cookie	Django	Cookie: csrftoken=«u32t4o3tb3gg43»; sessionid=«gt1y0nfqz9d2k7m3x5»; django_language=‹de›
        cookie	WooCommerce	Cookie: woocommerce_items_in_cart=‹1›; theme=‹dark›; currency=‹EUR›; wp_woocommerce_session_1=«t_8f7d6c5b4a39»
        cookie	Preferences as JSON	Cookie: prefs=‹%7B%22theme%22%3A%22dark%22%2C%22size%22%3A12%7D›; consent=‹yes›; tz=‹Europe/Berlin›
        cookie	Google Analytics	Cookie: _ga=«GA1.2.1234567890.1690000000»; _gid=«GA1.2.987654321.1690000001»
        html	Rails, meta	<meta name="csrf-param" content="‹authenticity_token›" />\n<meta name="csrf-token" content="«J1pcN5kq0oXhXz7T2wVqY3mA»" />\n<meta name="viewport" content="‹width=device-width, initial-scale=1›">
        html	Django, form	<form method="‹post›"><input type="‹hidden›" name="‹csrfmiddlewaretoken›" value="«CPl8rAnNW8dRhIZkCIUGMKqLz0sTm3Xb»"><input type="‹text›" name="‹username›" value="‹ada.lovelace1815›"></form>
        html	ASP.NET, form	<input name="‹__RequestVerificationToken›" type="‹hidden›" value="«CfDJ8NrAkSldwD9CpLRyOtm6FiJB1Jr_F3FQJQDvhlHoLNJJrLA6zaMUmhjMsisu2D2tFkAiYgyWQawJk9vNm36sYP1esHOtamBEPvSk1_x--Sg8Ey2a-d9CV2zHVWIN9MVhvKHOSyKqdZFlYDVd69XYx-rOWPw3ilHGLN6K0Km-1p83jZzF0E4WU5OGg5ns2-m9Yw»" />
        html	Login page	<label for="‹password›">‹Password›</label><input type="‹password›" id="‹password›" name="‹password›" placeholder="‹Your password›"><a href="‹/password/reset›">‹Forgot password?›</a>
        json	Translations, English	{"login":{"password":"‹Password›","token":"‹Access code›","forgot_password":"‹Forgot your password?›"},"otp":"‹on›"}
        json	Translations, German	{"token":"‹Zugangscode›","session":"‹Sitzung›","api_key":"‹Schlüssel›","code":"‹Kennwort›"}
        json	Translations, Korean	{"token":"‹토큰›","session":"‹세션›","authorization":"‹권한 부여›"}
        xml	WS-Security	<wsse:UsernameToken wsu:Id="‹UsernameToken-1›"><wsse:Username>‹NNK›</wsse:Username><wsse:Password Type="‹http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-username-token-profile-1.0#PasswordDigest›">«weYI3nXd8LjMNVksCKFV8t3rgHh3Rw==»</wsse:Password><wsse:Nonce>‹WScqanjCEAC4mQoBE07sAQ==›</wsse:Nonce></wsse:UsernameToken>
        xml	SAML	<saml:Assertion ID="‹_3c39bc0fe7b13769cab2f6f45eba801b›"><saml:Issuer>‹https://idp.example.org›</saml:Issuer></saml:Assertion>
        form	SAML, POST binding	SAMLResponse=«PHNhbWxwOlJlc3BvbnNlIHhtbG5zOnNhbWxwPSJ1cm4iPjwvc2FtbHA6UmVzcG9uc2U%2B»&RelayState=‹cookie%3A1›
        xml	XML-RPC, WordPress	<methodCall><methodName>‹wp.getUsersBlogs›</methodName><params><param><value><string>‹admin›</string></value></param><param><value><struct><member><name>password</name><value><string>«s3cr3tPass»</string></value></member></struct></value></param></params></methodCall>
        xml	ASP.NET, web.config	<appSettings><add key="‹ClientValidationEnabled›" value="‹true›"/><add key="ApiKey" value="«a1b2c3d4e5f6»"/></appSettings>
        xml	Maven, settings	<server><id>‹releases›</id><username>‹deploy›</username><password>«{jSMOWnoPFgsHVpMvz5VrIt5kRbzGpI8u+9EF1iFQyJQ=}»</password></server>
        xml	Android, strings	<resources><string name="‹password›">‹Password›</string><string name="‹action_sign_in›">‹Sign in›</string></resources>
        text	Spring, properties	spring.datasource.url=‹jdbc:postgresql://db/x›\nspring.datasource.username=‹sa›\nspring.datasource.password=«pg-s3cret9»\n
        text	Django, settings	SECRET_KEY = "«django-insecure-k3y0x9w8v7u6t5»"\nDEBUG = ‹True›\nALLOWED_HOSTS = []\n
        text	dotenv	APP_ENV=‹local›\nAPP_KEY=«base64:Zx9Q1mB3vC5nM7kL2jH4gF6dS8aP0oIu»\nDB_PASSWORD=«hunter22x»\nLOG_LEVEL=‹debug›\n
        text	PostgreSQL, URL	DATABASE_URL=postgres://‹ada›:«pw9x8y7z»@localhost:5432/app
        text	curl	curl https://api.example.com/v1/charges -u «sk_test_BQokikJOvBiI2HlWgH4olfQ2»: -d amount=‹2000› -d currency=‹usd›
        text	curl, user	curl -su ‹ada›:«h7nter2Xq» https://example.com/
        text	wget	wget --http-user=‹ada› --http-password=«h7nter2Xq» https://example.com/file.tar.gz
        text	MySQL	mysql -u ‹root› -p«s3cretPw1» -h db.example.com shop
        text	SQL	CREATE USER '‹jeffrey›'@'‹localhost›' IDENTIFIED BY '«pa55word-9x»';
        text	Log line	level=‹info› msg="‹token refreshed›" user=‹ada› session=‹active› duration=‹12ms›
        text	Log line, query	GET /login?sid=‹07/07/23/152243›&user=‹ada› HTTP/1.1 200
        text	LDIF	dn: ‹cn=ada,dc=example,dc=com›\nuserPassword:: «aDdudGVyMlhx»\ncn: ‹ada›\n
        json	PostgREST, error	{"code":"‹PGRST301›","details":null,"hint":null,"message":"‹JWT expired›"}
        json	Stripe, error	{"error":{"code":"‹resource_missing›","param":"‹token›","message":"‹No such token›","type":"‹invalid_request_error›"}}
        json	TOTP, RFC 6238	{"secret":"«JBSWY3DPEHPK3PXP»","otp":"«287082»","digits":6,"algorithm":"‹SHA1›"}
        json	GraphQL, variables	{"query":"‹mutation Login($password: String!) { login(password: $password) { ok } }›","variables":{"password":"«h7nter2Xq»","email":"‹ada@example.com›"}}
        json	Playwright, storage	{"origins":[{"origin":"‹https://example.com›","localStorage":[{"name":"‹theme›","value":"‹dark›"},{"name":"access_token","value":"«tok-9a8b7c6d5e4f»"}]}]}
        json	HAR, headers	{"headers":[{"name":"‹Accept›","value":"‹text/html›"},{"name":"Authorization","value":"Bearer «mF_9.B5f-4.1JqM»"}]}
        json	Postman, collection	{"auth":{"type":"‹bearer›","bearer":[{"key":"token","value":"«eyPostmanT0ken-12345»","type":"‹string›"}]}}
        json	Web push	{"endpoint":"‹https://push.example.com/wpush/v2/x›","keys":{"p256dh":"‹BIPUL12DLfytvTajnryr2PRdAgXS3HGKiLqndGcJGabyhHheJYlNGCeXl1dn18gSJ1WAkAPIxr4gK0_dQds4yiI=›"}}
        json	WebAuthn	{"challenge":"‹Y2xpbWIgYSBtb3VudGFpbg›","rp":{"id":"‹example.com›"},"userVerification":"‹preferred›"}
        json	Map tiles	{"tokens":{"primary":"‹blue›","spacing":"‹4px›"},"design":{"key":"‹button-primary-hover-2›"}}
        json	Feature flags	{"key":"‹new-checkout-2024-rollout›","value":true,"variation":"‹on›","version":16}
        json	i18next, missing key	{"lng":"‹en›","ns":"‹common›","key":"‹button.save.label.v2›","fallbackValue":"‹Save›"}
        json	Redis, keys	{"key":"‹user:1234:profile:settings›","type":"‹hash›","ttl":3600}
        json	SSH keys	{"id":1,"title":"‹octocat@octomac›","key":"‹ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQ›","read_only":true}
        header	ClickHouse, authentication	X-ClickHouse-Key: «a8c1f0e7b2d943»
        header	Jenkins, crumb	Jenkins-Crumb: «0db38413bd7ec9e98974f5213f7ead8b»
        header	Buildkite, webhooks	X-Buildkite-Token: «k9x2m4p7q1w8e5»
        header	Kubernetes, agent	X-Acme-Agent-Key: «Q7vLkP8bXh2Jr1K5sxrqM2T0z»
        header	Proxy, upstream credentials	X-Upstream: Bearer «mF9B5f41JqMz7»
        header	Proxy, upstream user	X-Upstream: Basic «QWxhZGRpbjpvcGVuIHNlc2FtZQ==»
        header	Connection settings	X-Config: user=‹ada›;password=«h7nter2Xq»
        header	Settings in base64	X-Config: «eyJ1c2VyIjoiYWRhIiwicGFzc3dvcmQiOiJoN250ZXIyWHEifQ==»
        header	User agent with a token	User-Agent: ‹cli/2.1› token=«h7nter2Xq»
        header	WebSocket, handshake	Sec-WebSocket-Key: ‹dGhlIHNhbXBsZSBub25jZQ==›
        header	Fastly, cache tags	Surrogate-Key: ‹product1234abcd5678efgh›
        header	Pagination	X-Next-Page-Token: ‹CAUQAA12345678ab›
        header	WebDAV, locks	Lock-Token: ‹<urn:uuid:e71d4fae-5dec-22d6-fea5-00a0c91e6be4>›
        header	RFC 6750, challenge	WWW-Authenticate: Bearer realm="‹example1234›", error="‹invalid_token›", error_description="‹The access token expired›"
        header	RFC 7617, challenge	WWW-Authenticate: Basic realm="‹foo1234bar›", charset="‹UTF-8›"
        header	RFC 9421, input	Signature-Input: sig1=("‹@method›" "‹@authority›");created=‹1618884473›;keyid="‹test-key-rsa-pss-2024›"
        header	Browser	User-Agent: ‹Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/119.0.0.0 Safari/537.36›
        header	W3C, baggage	baggage: userId=‹alice42›,serverNode=‹DF%2028›,isProduction=‹false›
        header	Server timing	Server-Timing: key;dur=‹123.4›, session;desc="‹cache2 hit›"
        header	CORS	Access-Control-Allow-Headers: ‹X-Foo-Token, Authorization, X-Api-Key›
        header	Plan	X-Plan: ‹Basic plan2024›
        json	GitHub, contents of .env	{"name":"‹.env›","encoding":"‹base64›","content":"«VVNFUj1hZGEKREJfUEFTU1dPUkQ9aDdudGVyMlhxCg==»"}
        json	GitHub, contents of README	{"name":"‹README.md›","encoding":"‹base64›","content":"‹IyBBdXRob3JzCk1BWF9UT0tFTlM9NDA5NgpQQVNTUE9SVCBhbmQgS0VZUzogc2VlIFNFQ1JFVEFSWS5tZAo=›"}
        json	GitHub, contents of CI	{"name":"‹ci.yml›","content":"‹ZW52OgogIEFQSV9UT0tFTjogJHt7IHNlY3JldHMuQVBJX1RPS0VOIH19CiAgUEFTU1dPUkRfRklMRTogL3J1bi9zZWNyZXRzL2RiCg==›"}
        json	Microsoft Graph, add password	{"clientSecret":{"displayName":"‹Password friendly name›","hint":"‹nu-›","keyId":"‹f0b0b335-1d71-4883-8f98-567911bfdca6›","secretText":"«nu-Qj8Q~abcdefghij0123»"}}
        json	Token with a type	{"token":{"type":"‹Bearer›","content":"«h7nter2Xq»","expires":"‹2024-01-02›"}}
        json	Recovery codes	{"recoveryCodes":["«8d2f-91ab-77c0»","«5e6a-02fd-31bb»"],"created":"‹2024-01-02›"}
        json	Password policy	{"passwordHistory":{"length":‹5›,"enabled":true},"otp":{"type":"‹numeric›","length":"‹6›"}}
        json	One-time password	{"otp":{"value":"«287082»","channel":"‹sms›"}}
        json	Log, Basic	{"msg":"‹proxy request›","sent":"Basic «Ym9iOmg3bnRlcjJYcQ==»"}
        json	Plans	{"plan":"‹Basic plan›","text":"‹Basic subscription with 100 tokens = 5 EUR›","tier":"‹Basic dictionary›"}
        json	JSON with comments	{"password" /* of the pump */ : "«h7nter2Xq»", "url" /* a */ : "‹http://h/b›"}
        json	Translations, sentences	{"hint":"‹the password = your birthday›","rule":"‹The password is at least 8 characters›","token_is":"‹Your token is: see email›"}
        json	Custom fields	{"headers":{"X-Acme-Token":"«h7nter2Xq»","X-Next-Page-Token":"‹CAUQAA12345678ab›","X-Request-Id":"‹a1b2c3d4e5f6›"}}
        text	Log line, blanks	2024-01-01 INFO ‹db› password = «h7nter2Xq» ‹done›\n2024-01-01 WARN [x] password: «second7Xq»\n
        text	Log line, list	user = ‹ada›, token = «h7nter2Xq», port = ‹5432›
        text	PHP, array	[api_key => «h7nter2Xq»] [name => ‹abc123def›]
        text	Sentences	‹the password = your birthday›; ‹our Basic plan›; ‹the secret = patience›; a token = ‹0.75› words
        text	Swift	let token = ‹nextToken2›\nif password == ‹input2› { key = ‹utf8Bytes16› }\nreturn secret = ‹sha256Hash1› ?? ‹x1›\n
        text	JavaScript	const token = ‹parser.next2›; for (token = ‹first1›; ; ) {}\nvar secret = ‹base64url2›;\n
        text	Python, requests	requests.get(‹url›, auth=('‹ada›', '«h7nter2Xq»'))
        text	Python, documentation	requests.get(‹url›, auth=('‹user›', '‹pass›'))
        text	Stripe, curl	curl ‹https://api.stripe.com/v1/charges› -u «rk4eC39HqLyjWDarjtT1zd»: -d amount=‹2000›
        text	curl, no blank	curl --header "X-Auth-Token:«h7nter2Xq»" ‹https://example.com›
        text	PowerShell	$p = ConvertTo-SecureString "«h7nter2Xq»" -AsPlainText -Force; ConvertTo-SecureString ‹$input2›
        text	Windows	setx API_KEY «h7nter2Xq»\nsetx EDITOR ‹vim9abc123›\n
        text	csh	setenv API_TOKEN «h7nter2Xq»\nsetenv TERM ‹xterm256color›\n
        text	Apache, htpasswd	‹ada›:{SHA}«W6ph5Mm5Pz8GgiULbPgzG37mj9g=»\n
        text	Java, properties	db.password «h7nter2Xq»\ndb.user ‹ada2024›\n
        text	i18n, properties	login.password = ‹Ihr Passwort›\nlogin.token = ‹Zugangscode 2›\nlogin.otp_is = ‹Der Code›\n
        yaml	Kubernetes, stringData	kind: Secret\nmetadata:\n  name: ‹web1config2›\nstringData:\n  config: «h7nter2Xq»\n
        yaml	Kubernetes, data of a Secret	kind: Secret\ndata:\n  tls.conf: «aDdudGVyMlhx»\n
        yaml	Kubernetes, data of a ConfigMap	kind: ConfigMap\ndata:\n  level: ‹debug2024x›\n
        xml	Entities	<!DOCTYPE a [<!ENTITY pw "«h7nter2Xq»"><!ENTITY co "‹Acme 2024›">]><a><password>&pw;</password><b>&co;</b></a>
        xml	Element with a value	<o:Password o:t="‹x›"><o:v>«h7nter2Xq»</o:v><o:hint>‹pet1name2›</o:hint></o:Password>
        """#
}
